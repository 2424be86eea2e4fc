"""The residual net for CIFAR."""

import torch

from plurivox.train.nets import CifarResNet
from plurivox.train.nets.cifar_resnet import zero_padded_shortcut


def test_the_shortcut_takes_every_second_pixel_and_puts_its_zeros_last() -> None:
    x = torch.rand(2, 3, 4, 4)
    out = zero_padded_shortcut(x, stride=2, extra_channels=5)
    assert out.shape == (2, 8, 2, 2)
    assert torch.equal(out[:, :3], x[:, :, ::2, ::2]) and not out[:, 3:].any()


def test_a_block_whose_convolutions_are_zero_is_its_shortcut() -> None:
    net = CifarResNet(n=1, width=4).build((3, 8, 8), 2)
    block = net.trunk[1].blocks[1].eval()
    for conv in (block.conv1, block.conv2):
        torch.nn.init.zeros_(conv.weight), torch.nn.init.zeros_(conv.bias)
    x = torch.rand(2, 4, 8, 8)
    assert torch.equal(block(x), zero_padded_shortcut(x, 2, 4))


def test_bytes_and_numbers_from_0_to_1_are_the_same_image() -> None:
    net = CifarResNet(n=1, width=4).build((3, 8, 8), 2).eval()
    x = torch.randint(0, 256, (4, 3, 8, 8), dtype=torch.uint8)
    torch.testing.assert_close(net(x), net(x.float() / 255))
