"""Warp's cache of compiled kernels: a folder that can be written, and what is in it."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import warp as wp

from .announcements import say

KERNELS = "wp_warpdyn_"
"""How the folders of our kernels begin; Warp keeps those of other programs beside them."""


@cache
def start_kernel_cache() -> None:
    """Initialise Warp, with a folder of this process alone where its cache cannot be written."""
    try:
        wp.init()
        _probe(kernel_cache_directory())
    except OSError as error:
        folder = _folder_of_this_process(error)
        say(
            f"warning: Warp cannot keep compiled kernels in {wp.config.kernel_cache_dir} "
            f"({error.strerror}); this process compiles for itself alone, and so will the next. "
            "Set WARP_CACHE_PATH to a folder that can be written"
        )
        wp.config.kernel_cache_dir = folder
        wp.init()


def _probe(folder: Path) -> None:
    """Raise OSError where no file can be made in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def _folder_of_this_process(reason: OSError) -> str:
    """A new folder, gone when the process ends."""
    try:
        _kept_alive.append(tempfile.TemporaryDirectory(prefix="warpdyn_kernels_"))
    except OSError as error:
        raise OSError(
            error.errno,
            f"kernels can be compiled neither into {wp.config.kernel_cache_dir} "
            f"({reason.strerror}) nor into a temporary folder ({error.strerror}); "
            "set WARP_CACHE_PATH, or TMPDIR, to a folder that can be written",
        ) from None
    return _kept_alive[-1].name


_kept_alive: list[tempfile.TemporaryDirectory] = []


def kernel_cache_directory() -> Path:
    """Where Warp keeps compiled kernels, once it is initialised: WARP_CACHE_PATH, or the user's
    cache, with a folder for each version of Warp."""
    return Path(str(wp.config.kernel_cache_dir))


def has_compiled(kernel: wp.Kernel, device: wp.Device) -> bool:
    """Whether a kernel is loaded, or lies in the cache, so that it need not be compiled."""
    if not wp.config.cache_kernels:
        return False
    endings = (".o",) if device.is_cpu else (".ptx", ".cubin")
    folder = kernel_cache_directory() / kernel.module.get_module_identifier(_block(device))
    try:
        return any(path.suffix in endings for path in folder.iterdir())
    except OSError:
        return False


def _block(device: wp.Device) -> int | None:
    """Threads of a block, which Warp compiles for: 1 on the CPU, else as the module says."""
    return 1 if device.is_cpu else None


def kernel_folders() -> list[Path]:
    """Folders of our kernels in the cache, one each."""
    folder = kernel_cache_directory()
    return sorted(folder.glob(f"{KERNELS}*")) if folder.is_dir() else []
