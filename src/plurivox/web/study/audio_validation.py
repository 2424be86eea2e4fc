"""Validation of the sound files of tasks: the format is detected from the structure, not the name; nothing is decoded."""

import struct
from collections.abc import Callable, Iterator

from plurivox.core.errors import InputError
from plurivox.web.store.collect.tasks_batches_quotas import MediaFile

MAX_BYTES = 50_000_000
WAVE_CODECS = (1, 3, 6, 7, 0xFFFE)  # PCM, float, A-law, u-law, extensible
MP3_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}  # by version
MP3_KBITS = {
    1: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),  # version 1
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),  # versions 2 and 2.5
}
M4A_BRANDS = (b"M4A ", b"M4B ", b"mp42", b"mp41", b"isom", b"iso2", b"iso5", b"iso6", b"dash")


def validate_sound_and_return_media_file(data: bytes, name_for_message: str) -> MediaFile:
    """Return the MediaFile of a sound file (WAV, MP3, Ogg, FLAC, M4A); raise InputError for other formats and large files."""
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{name_for_message} is too large: its file has {len(data) / 1e6:.1f} MB, and a sound can have at most "
            f"{MAX_BYTES / 1e6:.0f} MB; shorten it, or save it as MP3 or Ogg"
        )
    for kind, is_of_type in SOUND_TYPES.items():
        try:
            if is_of_type(data):
                return MediaFile(kind, data, shown_type=kind)
        except (struct.error, IndexError):
            continue  # file ends too early
    raise InputError(
        f"{name_for_message} is not a supported sound file; use WAV, MP3, Ogg (Opus, Vorbis, FLAC), FLAC or M4A"
    )


def _is_wav_with_sound_data(data: bytes) -> bool:
    """Return whether data is a WAV file: RIFF chunks with a plausible `fmt ` and a non-empty `data`."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return False
    at, is_plausible = 12, False
    while at + 8 <= len(data):
        kind, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        if kind == b"fmt ":
            codec, channels, rate = struct.unpack_from("<HHI", data, at + 8)
            is_plausible = codec in WAVE_CODECS and 1 <= channels <= 32 and 1000 <= rate <= 768_000
        elif kind == b"data":
            return is_plausible and size > 0 and at + 8 < len(data)
        at += 8 + size + size % 2
    return False


def _is_flac(data: bytes) -> bool:
    """Return whether data is a FLAC file: `fLaC`, then STREAMINFO with a sample rate."""
    return (
        data[:4] == b"fLaC"
        and data[4] & 0x7F == 0
        and data[5:8] == b"\x00\x00\x22"
        and _read_flac_sample_rate(data) > 0
    )


def _read_flac_sample_rate(data: bytes) -> int:
    """Return the sample rate in the STREAMINFO of a FLAC file; 0 if the file is too short."""
    return (data[18] << 12 | data[19] << 4 | data[20] >> 4) if len(data) >= 42 else 0


def _is_ogg_with_playable_codec(data: bytes) -> bool:
    """Return whether data is an Ogg file whose first packet is of a sound codec that browsers play."""
    if data[:5] != b"OggS\x00" or not data[5] & 2:
        return False
    packet = data[27 + data[26] :]
    return packet.startswith((b"OpusHead", b"\x01vorbis", b"\x7fFLAC"))


def _is_m4a_sound_without_video(data: bytes) -> bool:
    """Return whether data is an M4A file: `ftyp` of a known brand, and `moov` with a sound track and no video track."""
    if data[4:8] != b"ftyp" or data[8:12] not in M4A_BRANDS:
        return False
    for kind, body in _yield_type_and_content_of_mp4_boxes(data):
        if kind == b"moov":
            tracks = [
                _mp4_track_handler_type(track)
                for name, track in _yield_type_and_content_of_mp4_boxes(body)
                if name == b"trak"
            ]
            return b"soun" in tracks and b"vide" not in tracks
    return False


def _yield_type_and_content_of_mp4_boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (type, content) of each top-level box of MP4 data."""
    at = 0
    while at + 8 <= len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        head = 8
        if size == 1:
            size, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        size = size or len(data) - at
        if size < head:
            return
        yield kind, data[at + head : at + size]
        at += size


def _mp4_track_handler_type(track_content: bytes) -> bytes:
    """Return the handler type of an MP4 track, for example b"soun"."""
    for kind, body in _yield_type_and_content_of_mp4_boxes(track_content):
        if kind == b"mdia":
            return next(
                (inner[8:12] for name, inner in _yield_type_and_content_of_mp4_boxes(body) if name == b"hdlr"), b""
            )
    return b""


def _starts_with_mp3_frames(data: bytes) -> bool:
    """Return whether data is an MP3 file: three consecutive frames (or fewer until the end), after an optional ID3 tag."""
    at = 0
    if data[:3] == b"ID3":
        size = data[6:10]
        at = 10 + (size[0] << 21 | size[1] << 14 | size[2] << 7 | size[3]) + (10 if data[5] & 0x10 else 0)
    for n in range(3):
        if n and at >= len(data):
            return True
        length = _mp3_frame_length(data, at)
        if not length:
            return False
        at += length
    return True


def _mp3_frame_length(data: bytes, offset: int) -> int:
    """Return the length in bytes of the MP3 frame at a byte offset; 0 if there is none."""
    head = struct.unpack_from(">I", data, offset)[0]
    version, layer, kbits, rate = head >> 19 & 3, head >> 17 & 3, head >> 12 & 15, head >> 10 & 3
    if head >> 21 != 0x7FF or version == 1 or layer != 1 or kbits in (0, 15) or rate == 3:
        return 0
    first = version == 3
    bits = MP3_KBITS[1 if first else 2][kbits] * 1000
    return (144 if first else 72) * bits // MP3_RATES[version][rate] + (head >> 9 & 1)


SOUND_TYPES: dict[str, Callable[[bytes], bool]] = {
    "audio/wav": _is_wav_with_sound_data,
    "audio/flac": _is_flac,
    "audio/ogg": _is_ogg_with_playable_codec,
    "audio/mp4": _is_m4a_sound_without_video,
    "audio/mpeg": _starts_with_mp3_frames,
}
