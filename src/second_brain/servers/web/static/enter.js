// The page of a one-time link: takes the key out of the address, then goes in.

history.replaceState(null, "", "/login");
document.querySelector("form[data-enter]").submit();
