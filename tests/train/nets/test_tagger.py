"""The tagger, its recurrent part and its encoder."""

from pathlib import Path

import pytest
import torch
from torch import nn

from plurivox.core.errors import InputError, OptionError
from plurivox.train.data.text_encoding import Vocabulary, encode_tokens, write_vocabularies
from plurivox.train.nets import Tagger
from plurivox.train.nets._shared.attention_encoder import EncoderLayer
from plurivox.train.nets.tagger import BidirectionalLSTM

SMALL = {"letters": 4, "word_width": 3, "char_width": 3, "hidden": 4, "layers": 1, "inner": 8}


def test_an_encoder_layer_equals_that_of_torch_on_a_single_position() -> None:
    mine = EncoderLayer(8, heads=2, inner=16, dropout=0.1).eval()
    usual = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, layer_norm_eps=1e-6).eval()
    usual.self_attn.in_proj_weight.data[16:] = mine.value.weight
    usual.self_attn.in_proj_bias.data[16:] = mine.value.bias
    for theirs, ours in (
        (usual.self_attn.out_proj, mine.out),
        (usual.linear1, mine.widen),
        (usual.linear2, mine.narrow),
    ):
        theirs.load_state_dict(ours.state_dict())
    x = torch.randn(5, 8)
    torch.testing.assert_close(mine(x), usual(x[:, None]).squeeze(1))


def test_the_bidirectional_lstm_is_that_of_torch_without_padding() -> None:
    mine, usual = BidirectionalLSTM(3, 4), nn.LSTM(3, 4, batch_first=True, bidirectional=True)
    for key, weight in [
        *mine.forth.named_parameters(),
        *((f"{k}_reverse", w) for k, w in mine.back.named_parameters()),
    ]:
        usual.get_parameter(key).data = weight.data
    x, length, place = torch.randn(3, 6, 3), torch.tensor([6, 2, 4]), torch.tensor([3, 1, 0])
    read = mine(x, length, place, length - 1 - place)
    for one in range(3):
        alone, _ = usual(x[one : one + 1, : length[one]])
        torch.testing.assert_close(read[one], alone[0, place[one]])


def test_more_padding_changes_nothing() -> None:
    words, chars = Vocabulary.of(["a", "cat", "sat"]), Vocabulary.of("acst")
    rows = [encode_tokens(["a", "cat"], [0, 0], words, chars, context=wide, letters=4) for wide in (2, 9)]
    net = Tagger(words=len(words), chars=len(chars), **SMALL).build((7,), 5).eval()
    torch.testing.assert_close(net(torch.tensor(rows[0])), net(torch.tensor(rows[1])))


def test_codes_outside_the_table_are_unknown_words() -> None:
    net = Tagger(words=4, chars=4, **SMALL).build((7,), 5).eval()
    far, unknown = torch.tensor([[0, 99, 2, 3, 0, 0, 0]]), torch.tensor([[0, 1, 2, 3, 0, 0, 0]])
    assert torch.equal(net(far), net(unknown))


def test_without_attention_the_head_is_linear() -> None:
    net = Tagger(words=4, chars=4, attention=False, **SMALL).build((7,), 5)
    assert isinstance(net.trunk.encoder, nn.Identity) and isinstance(net.head[0], nn.Identity)


def test_word_vectors_are_loaded_from_a_file(tmp_path: Path) -> None:
    words = Vocabulary.of(["a", "cat", "sat"])
    write_vocabularies(tmp_path / "v.json", {"words": words})
    (tmp_path / "glove.txt").write_text("cat 1 2 3\nmoon 4 5 6\n")
    method = Tagger(words=5, chars=4, vectors=str(tmp_path / "glove.txt"), vocabulary=str(tmp_path / "v.json"), **SMALL)
    net = method.build((7,), 5)
    before = net.trunk.words.weight.detach().clone()
    method.load_pretrained(net)
    assert net.trunk.words.weight[3].tolist() == [1, 2, 3] and torch.equal(net.trunk.words.weight[4], before[4])
    assert net.trunk.words.weight.requires_grad


def test_wrong_inputs_raise_errors() -> None:
    with pytest.raises(OptionError, match="numbers of word and letter codes"):
        Tagger().build((100,), 5)
    with pytest.raises(InputError, match="encode_tokens"):
        Tagger(words=3, chars=3).build((3, 8, 8), 5)
    with pytest.raises(OptionError, match="word vectors need the words of the codes"):
        Tagger(words=3, chars=3, vectors="glove.txt").load_pretrained(nn.Identity())


def test_the_soft_head_has_its_own_encoder() -> None:
    from plurivox.train.heads.two_heads import FeatureHook

    net = Tagger(words=4, chars=4, **SMALL).build((7,), 5)
    hook = FeatureHook(net, 5)
    net(torch.tensor([[0, 1, 2, 3, 0, 0, 0]]))
    soft, features = hook.make_head(5), hook.pop_features()
    assert features.shape == (1, 16) and soft(features).shape == (1, 5)
    assert type(soft[0]) is type(net.trunk.encoder)
