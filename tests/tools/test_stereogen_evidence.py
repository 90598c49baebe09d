"""The page of right views shows what was recorded, and dashes where nothing was."""

from tools.evidence import _stereogen_page
from tools.evidence._stereogen_page import parts


def test_the_page_has_recorded_numbers_and_dashes():
    numbers = {
        "Uniform, warp_inpaint: psnr": 31.416,
        "Uniform, shift: psnr": 20.0,
        "control, random right: e_match": 99.5,
        "[1,10), shift: scenes": 7,
        "[1,10), shift: psnr": 21.0,
        "[1,10), shift: psnr half": 0.5,
        "Uniform, shift: implied baseline, cm": 6.2,
        "seconds to score a frame at 832x480": 1.4,
    }
    found = parts(numbers)
    assert set(found) == {"branches", "controls", "baselines", "implied", "cost"}
    assert "| `warp_inpaint` | image | G0 | Uniform | 31.42 | - | - |" in found["branches"]
    assert "| random right | - | - | - | 99.50 |" in found["controls"]
    assert "| `shift` / G2 | [1,10) | 7 | 21.00 \u00b1 0.50 | - |" in found["baselines"]
    assert "| `shift` | G2 | Uniform | - | 6.20 | - | - |" in found["implied"]
    assert "1.40 s" in found["cost"]
    for name in ("branches", "controls", "baselines", "implied"):
        assert len({line.count("|") for line in found[name].splitlines()}) == 1
    text = (_stereogen_page.REPOSITORY / "docs" / _stereogen_page.PAGE).read_text()
    assert all(f"<!-- measured: {name} -->" in text for name in found)
