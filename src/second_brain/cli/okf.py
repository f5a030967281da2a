"""``brain okf``: is a folder a bundle of Open Knowledge Format, and a bundle of your notes."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from .exits import Exit
from .options import Invocation, json_option, system_path
from .output import Piece, say, say_json, tell


@click.group()
def okf() -> None:
    """Check and export Open Knowledge Format, which other programs and agents read."""


@okf.command()
@click.argument("path", callback=system_path)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of advice, only errors.")
@json_option
def check(path: str, quiet: bool, as_json: bool) -> int:
    """Tell whether a folder is a bundle, and what could be better.

    Errors are what breaks one of the format's three rules: frontmatter that can be read, a type in it, and index.md
    and log.md in their form. With an error the exit code is 1.
    """
    from ..okf.checking import check_bundle

    findings = check_bundle(Path(path), datetime.now(UTC))
    errors = sum(finding.is_error for finding in findings)
    advice = len(findings) - errors
    if as_json:
        listed = [asdict(finding) for finding in findings if finding.is_error or not quiet]
        say_json({"conformant": not errors, "errors": errors, "advice": advice, "findings": listed})
        return Exit.FAILED if errors else Exit.DONE
    for finding in findings:
        if finding.is_error or not quiet:
            rule = Piece(f"{finding.rule}: ", "error" if finding.is_error else "dim")
            say(f"{finding.path}:{finding.line}: ", rule, finding.message)
    verdict = "not a bundle" if errors else "a conformant bundle"
    say(Piece(verdict, "error" if errors else "title"), f" ({errors} errors, {advice} pieces of advice)")
    return Exit.FAILED if errors else Exit.DONE


@okf.command()
@click.argument("folder", callback=system_path)
@click.option(
    "--source", metavar="NAME", default="", help="Only the notes of this source, without a folder around them."
)
@click.option("--privacy", metavar="LABEL", default="", help="Leave out notes above this label.")
@click.option(
    "--force", is_flag=True, help="Also into a folder that is not empty; files of the same names are replaced."
)
@json_option
@click.pass_obj
def export(invocation: Invocation, folder: str, source: str, privacy: str, force: bool, as_json: bool) -> int:
    """Write your notes into FOLDER as a bundle.

    The notes are copied as they were indexed last, with a type where there was none, and links that other programs
    understand; each folder gets an index.md. Your own files are not touched.
    """
    from ..okf.exporting import export_bundle

    with invocation.open_brain() as brain:
        view = brain.seen_by(privacy) if privacy else brain
        report = export_bundle(view, Path(folder), source=source, force=force)
    if as_json:
        say_json({**asdict(report), "folder": str(report.folder)})
        return Exit.DONE
    say(f"{report.notes} notes and {report.generated} directories and logs written to ", Piece(folder, "title"))
    for old, new in report.renamed.items():
        tell(f"note: {old} is not in the form that this name is reserved for; it is {new}")
    return Exit.DONE
