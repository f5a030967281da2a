"""Which version of second-brain is this?"""

__version__ = "0.1.0"
