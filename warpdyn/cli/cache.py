"""`warpdyn cache`: location and size of the caches of programs and kernels, and their removal."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..execution.compile import sealed_files
from ..execution.compile.cache_folder import cache_directory, kept_programs
from ..execution.compile.kernel_cache import KERNELS, kernel_cache_directory, kernel_folders
from ..execution.compile.precompiled_header import HEADERS, header_files
from .command_line import UserError, start_warp
from .shared_options import Commands, add_command


@dataclass(frozen=True)
class CachedFiles:
    """One kind of cached files."""

    what: str
    place: Path
    variable: str
    """The environment variable for its location."""
    entries: Sequence[Path]
    """Files or folders, none of them a link."""
    refusal: str = ""
    """Reason why nothing is removed there."""

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(size_of(entry) for entry in self.entries)


def add_parser(commands: Commands) -> None:
    """Add `warpdyn cache`."""
    text = "show where programs and kernels are kept, how many and how large, or remove them"
    sub = add_command(commands, "cache", text)
    text = "remove them; kernels of other programs in Warp's cache stay"
    sub.add_argument("--empty", action="store_true", help=text)
    sub.add_argument("--yes", action="store_true", help="with --empty: remove without a question")
    sub.set_defaults(run=show_caches)


def show_caches(args: argparse.Namespace) -> int:
    """Print a line for each cache; with `--empty`, remove its contents once the user agrees."""
    start_warp()
    found = find_cached_files()
    for each in found:
        count, size = len(each.entries), each.bytes / 1e6
        print(f"{each.what:17} {count:6,} {size:9,.1f} MB  {each.place}  ({each.variable})")
    if args.empty:
        empty(found, args.yes)
    return 0


def empty(found: Sequence[CachedFiles], agreed: bool) -> None:
    """Remove the cached files; ask first unless the user has agreed."""
    for each in found:
        if each.entries and each.refusal:
            print(f"not removed from {each.place}: {each.refusal}")
    ours = [each for each in found if each.entries and not each.refusal]
    if ours and not agreed and not confirm_removal(ours):
        raise UserError("nothing was removed")
    for each in ours:
        for entry in each.entries:
            remove(entry)
    print("emptied")


def confirm_removal(found: Sequence[CachedFiles]) -> bool:
    """True if the user agrees that these files are removed."""
    text = ", ".join(f"{len(each.entries):,} {each.what} in {each.place}" for each in found)
    if not sys.stdin.isatty():
        raise UserError(f"this would remove {text}; --yes removes them without a question")
    return input(f"remove {text}? [y/N] ").strip().lower() in ("y", "yes")


def find_cached_files() -> list[CachedFiles]:
    """The cached programs and headers, which are ours, and our kernels in Warp's cache."""
    ours, kernels = cache_directory(), kernel_cache_directory()
    refusal = refusal_of(ours) or (
        ""
        if sealed_files.is_tagged(ours)
        else f"it has no {sealed_files.TAG} of warpdyn, so other files may be among them"
    )
    return [
        CachedFiles("programs", ours, "WARPDYN_CACHE_DIR", kept_programs(), refusal),
        CachedFiles("parsed headers", ours / HEADERS, "WARPDYN_CACHE_DIR", header_files(), refusal),
        CachedFiles(
            "compiled kernels", kernels, "WARP_CACHE_PATH", kernel_folders(), refusal_of(kernels)
        ),
    ]


def refusal_of(folder: Path) -> str:
    """Reason why nothing is removed from a folder that other users can write to; empty if they
    cannot."""
    return sealed_files.distrust_folder(folder, link=True)


def size_of(entry: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = entry.iterdir() if entry.is_dir() else [entry]
    return sum(path.lstat().st_size for path in files if path.is_file())


def remove(entry: Path) -> None:
    """Remove a file, or a kernel's folder with the files in it that have its name; other files
    stay. It is not an error if another process has removed them already."""
    try:
        if entry.is_symlink() or not entry.is_dir():
            entry.unlink(missing_ok=True)
            return
        names = kernel_names(entry)
        files = list(entry.iterdir())
        foreign = [file for file in files if not file.name.lstrip(".").startswith(names)]
        for file in files:
            if file not in foreign and (file.is_symlink() or not file.is_dir()):
                file.unlink(missing_ok=True)
        if foreign:
            print(f"not removed: {entry}, which holds {foreign[0].name}")
        else:
            entry.rmdir()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"cannot remove {entry}: {error.strerror}") from None


def kernel_names(folder: Path) -> tuple[str, str]:
    """Prefixes of a kernel's files: the name of its folder, without the suffix of a build folder,
    and the name of the source in it, which the files of the interpreter and of native calls have.
    """
    name = re.sub(r"_(\w{8}_build|p\d+_t\d+)$", "", folder.name)
    source = name.removeprefix(KERNELS).rpartition("_")[0]
    return name, f"{source}."
