from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys

import pytest

from perin.errors import InputError, UsageError
from perin.files import check_writable, each_line, read_lines, read_text, source_name, write_bytes, write_text


def test_lines_end_at_line_feeds_only(tmp_path):
    path = tmp_path / "x"
    path.write_bytes("a\u2028b\r\nc\x0bd\n\ne".encode())
    assert list(read_lines(path)) == ["a\u2028b", "c\x0bd", "", "e"]
    assert read_text(path) == "a\u2028b\nc\x0bd\n\ne"


def test_byte_order_mark_is_dropped(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfa\n\xef\xbb\xbfb")
    assert list(read_lines(path)) == ["a", "\ufeffb"]


@pytest.mark.parametrize("name", ["x.gz", "x"])
def test_gzip_is_recognised_by_content(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"a\nb\n") + gzip.compress(b"c\n"))
    assert list(read_lines(tmp_path / name)) == ["a", "b", "c"]


def test_a_plain_file_may_be_called_gz(tmp_path):
    (tmp_path / "x.gz").write_bytes(b"plain\n")
    assert list(read_lines(tmp_path / "x.gz")) == ["plain"]


@pytest.mark.parametrize("damage", [lambda raw: raw[:-9], lambda raw: raw[:60], lambda raw: raw[:-3] + b"xyz"])
def test_damaged_gzip(tmp_path, damage):
    raw = gzip.compress(os.urandom(300).hex().encode() + b"\n")
    (tmp_path / "x.gz").write_bytes(damage(raw))
    with pytest.raises(InputError, match="gzip stream is cut short or damaged"):
        list(read_lines(tmp_path / "x.gz"))


def test_wrong_encoding_says_line_and_byte(tmp_path):
    (tmp_path / "x").write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(InputError) as caught:
        list(read_lines(tmp_path / "x"))
    assert caught.value.line == 2
    assert "byte 3 of the line is not UTF-8 (0xef)" in str(caught.value)


def test_what_is_no_readable_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(read_lines(tmp_path / "missing"))
    with pytest.raises(InputError, match="is a folder"):
        list(read_lines(tmp_path))


def test_an_error_leaves_no_file_and_an_old_one_untouched(tmp_path):
    old = tmp_path / "old"
    old.write_text("before")
    for name in ("old", "new", "new.gz"):
        with pytest.raises(ZeroDivisionError), write_text(tmp_path / name) as stream:
            stream.writelines(str(1 / divisor) for divisor in (1, 0))
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_text() == "before"


def test_half_a_character_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"an unpaired surrogate \(U\+D800\)"), write_text(tmp_path / "x.gz") as stream:
        stream.write("a\ud800")
    assert list(tmp_path.iterdir()) == []


def test_compressed_output_is_the_same_every_time(tmp_path):
    for name in ("a.gz", "b.gz"):
        with write_text(tmp_path / name) as stream:
            stream.write("ä\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == "ä\n".encode()


def test_new_files_have_ordinary_permissions(tmp_path):
    with write_text(tmp_path / "x") as stream:
        stream.write("a")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with write_text(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with write_bytes(tmp_path / "pipe") as stream:
            stream.write(b"through")
        assert os.read(reader, 100) == b"through"
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    finally:
        os.close(reader)


def test_places_that_can_not_be_written(tmp_path):
    with pytest.raises(UsageError, match="is a folder"), write_text(tmp_path):
        pass
    with pytest.raises(UsageError, match="there is no folder"), write_text(tmp_path / "missing" / "x"):
        pass
    with pytest.raises(UsageError, match=r"can't write .*: File name too long"), write_text(tmp_path / ("x" * 300)):
        pass


def test_places_are_checked_without_touching_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable("here")
    check_writable(tmp_path / "x.gz")
    check_writable(os.devnull)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(UsageError, match="can't write missing/x: there is no folder missing"):
        check_writable("missing/x")


def test_standard_input(monkeypatch):
    for raw in (b"a\nb", gzip.compress(b"a\nb")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
        assert list(read_lines("-")) == ["a", "b"]
    assert source_name("-") == "<stdin>"


def test_standard_output_is_utf8_whatever_the_locale():
    code = "from perin.files import write_text\nwith write_text('-') as stream: stream.write('→\\n')"
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert done.stdout == "→\n".encode()


def test_lines_that_are_not_utf8_can_be_passed_over(tmp_path):
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbffine\nna\xefve\r\nfine again")
    first, second, third = each_line(tmp_path / "x")
    assert (first, third) == ("fine", "fine again")
    assert isinstance(second, InputError)
    assert str(second).startswith(f"{tmp_path / 'x'}:2: byte 3 of the line is not UTF-8 (0xef)")


@pytest.mark.parametrize(
    "raw", [bytes(range(256)), "hello\n".encode("utf-16"), "hello\n".encode("utf-16-le"), b"\x7fELF\x02\x01\0\0\0"]
)
def test_binary_data_is_no_text(tmp_path, raw):
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(InputError, match="x:1: is no text but binary data"):
        list(each_line(tmp_path / "x"))


def test_text_may_hold_control_characters_and_long_scripts(tmp_path):
    text = "a\0b\x01 " + "語" * 3000
    (tmp_path / "x").write_text(text, encoding="utf-8")
    assert list(each_line(tmp_path / "x")) == [text]
