#!/usr/bin/env python3
"""Models with random weights under `torch.compile(backend="fuser")`, beside eager torch in f64.

    PYTHONPATH=target/python scripts/torch-zoo.py [NAME ...] [--steps N] [--list]

A row is a model: the loss and the gradients of each training step (five, by gradient descent) are compared with those of eager torch in f64. A
model is right where no error is above ten times the largest so far of eager torch in f32, or a small multiple of its rounding. Shares count nodes that
compute, products and convolutions aside. It ends with 1 if a model is wrong or is left to torch as a whole. Models whose package is missing are
skipped, and said. Models that need torch 2.15 and transformers 5.24 or diffusers 0.42 were tried with these.
"""

import argparse
import copy
import os
import sys
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from fuser.torch import backend, graphs  # noqa: E402

ZOO = {}


def model(make):
    """Enters a model: a function that gives the module and its inputs."""
    ZOO[make.__name__] = make
    return make


def ids(*shape, top=50):
    return torch.randint(1, top, shape)


def loss_of(made):
    """A number of whatever a model gives."""
    if isinstance(made, torch.Tensor):
        return made if made.dim() == 0 else (made.double() if made.dtype == torch.float64 else made.float()).square().mean()
    if getattr(made, "loss", None) is not None:
        return made.loss
    for name in ("logits", "last_hidden_state", "sample"):
        if getattr(made, name, None) is not None:
            return loss_of(getattr(made, name))
    return loss_of(made[0])


# Language models.

SMALL = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 64}  # fmt: skip


def causal(config, cls, **more):
    import transformers

    config = getattr(transformers, config)(**{**SMALL, "pad_token_id": 0, **more})
    tokens = ids(2, 16)
    return getattr(transformers, cls)(config), {"input_ids": tokens, "labels": tokens, "use_cache": False}


@model
def gpt2():
    import transformers as t

    config = t.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    tokens = ids(2, 16)
    return t.GPT2LMHeadModel(config), {"input_ids": tokens, "labels": tokens, "use_cache": False}


@model
def llama():
    return causal("LlamaConfig", "LlamaForCausalLM")


@model
def mistral():
    return causal("MistralConfig", "MistralForCausalLM")


@model
def qwen3():
    return causal("Qwen3Config", "Qwen3ForCausalLM", head_dim=8)


@model
def gemma2():
    return causal("Gemma2Config", "Gemma2ForCausalLM", head_dim=8)


@model
def mixtral():
    return causal("MixtralConfig", "MixtralForCausalLM", num_local_experts=4, experts_implementation="eager")


@model
def phi():
    return causal("PhiConfig", "PhiForCausalLM", num_key_value_heads=4)


@model
def gpt_neox():
    return causal("GPTNeoXConfig", "GPTNeoXForCausalLM")


@model
def opt():
    return causal("OPTConfig", "OPTForCausalLM", ffn_dim=64, word_embed_proj_dim=32, dropout=0.0)


@model
def bert():
    import transformers as t

    config = t.BertConfig(**{**SMALL, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})
    tokens = ids(2, 16)
    return t.BertForMaskedLM(config), {"input_ids": tokens, "labels": tokens, "attention_mask": torch.ones(2, 16, dtype=torch.long)}


@model
def t5():
    import transformers as t

    config = t.T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0, decoder_start_token_id=0)
    return t.T5ForConditionalGeneration(config), {"input_ids": ids(2, 12), "labels": ids(2, 8), "use_cache": False}


@model
def mamba():
    import transformers as t

    config = t.MambaConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, state_size=8)
    tokens = ids(2, 12)
    return t.MambaForCausalLM(config), {"input_ids": tokens, "labels": tokens, "use_cache": False}


@model
def whisper():
    import transformers as t
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = t.WhisperConfig(d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64, num_mel_bins=16, max_source_positions=32,
                             dropout=0.0)  # fmt: skip
    return WhisperEncoder(config), (torch.randn(2, 16, 64),)


# Vision.


@model
def clip():
    import transformers as t

    vision = t.CLIPVisionConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8)
    return t.CLIPVisionModel(vision), (torch.randn(2, 3, 32, 32),)


@model
def vit():
    import transformers as t

    config = t.ViTConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8,
                         hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    return t.ViTForImageClassification(config), (torch.randn(2, 3, 32, 32),)


@model
def swin():
    import transformers as t

    config = t.SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4, drop_path_rate=0.0,
                          hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)  # fmt: skip
    return t.SwinForImageClassification(config), (torch.randn(2, 3, 32, 32),)


@model
def convnext():
    import transformers as t

    config = t.ConvNextConfig(hidden_sizes=[8, 16], depths=[2, 2], num_stages=2, drop_path_rate=0.0)
    return t.ConvNextForImageClassification(config), (torch.randn(2, 3, 32, 32),)


def _resnet():
    import transformers as t

    config = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[2, 2], layer_type="basic")
    return t.ResNetForImageClassification(config)


@model
def resnet():
    return _resnet(), (torch.randn(4, 3, 32, 32),)


@model
def resnet_channels_last():
    return _resnet().to(memory_format=torch.channels_last), (torch.randn(4, 3, 32, 32).to(memory_format=torch.channels_last),)


@model
def segformer():
    import transformers as t

    config = t.SegformerConfig(depths=[1, 1], num_encoder_blocks=2, hidden_sizes=[8, 16], sr_ratios=[2, 1], patch_sizes=[3, 3], strides=[2, 2],
                               num_attention_heads=[1, 2], mlp_ratios=[2, 2], hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                               drop_path_rate=0.0, classifier_dropout_prob=0.0, decoder_hidden_size=16)  # fmt: skip
    return t.SegformerForSemanticSegmentation(config), (torch.randn(2, 3, 32, 32),)


# Diffusion.


@model
def unet():
    from diffusers import UNet2DConditionModel

    net = UNet2DConditionModel(sample_size=8, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, cross_attention_dim=16,
                               down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
                               attention_head_dim=8)  # fmt: skip
    return net, (torch.randn(2, 4, 8, 8), torch.tensor([3, 7]), torch.randn(2, 5, 16))


@model
def dit():
    from diffusers import DiTTransformer2DModel

    net = DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=2, sample_size=8, patch_size=2,
                                num_embeds_ada_norm=10)  # fmt: skip
    for module in net.modules():  # classes are dropped at random, which each copy of the model would draw anew
        if hasattr(module, "dropout_prob"):
            module.dropout_prob = 0.0
    for p in net.parameters():  # some begin at zero, and then so do all gradients
        nn.init.normal_(p, std=0.03)
    return net, {"hidden_states": torch.randn(2, 4, 8, 8), "timestep": torch.tensor([3, 7]), "class_labels": torch.tensor([1, 2])}


@model
def vae():
    from diffusers import AutoencoderKL

    net = AutoencoderKL(block_out_channels=(16,), norm_num_groups=8, sample_size=16)
    return net, (torch.randn(2, 3, 16, 16),)


# Modules of torch alone.


class Wrapped(nn.Module):
    """Modules by name, and a function of them and the inputs."""

    def __init__(self, run, **modules):
        super().__init__()
        self.run = run
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *inputs):
        return self.run(self, *inputs)


@model
def mlp():
    net = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 10))
    return Wrapped(lambda m, x, t: F.cross_entropy(m.net(x), t), net=net), (torch.randn(8, 16), torch.randint(0, 10, (8,)))


@model
def encoder_layer():
    return nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), (torch.randn(2, 7, 32),)


@model
def attention_with_mask():
    def run(m, x, mask):
        return m.mha(x, x, x, key_padding_mask=mask)[0]

    return Wrapped(run, mha=nn.MultiheadAttention(32, 4, batch_first=True)), (torch.randn(2, 7, 32), torch.rand(2, 7) < 0.2)


@model
def lstm_cells():
    def run(m, x):
        h = c = x.new_zeros(x.shape[0], 24)
        for t in range(x.shape[1]):
            h, c = m.cell(x[:, t], (h, c))
        return h

    return Wrapped(run, cell=nn.LSTMCell(16, 24)), (torch.randn(3, 5, 16),)


@model
def gru_cells():
    def run(m, x):
        h = x.new_zeros(x.shape[0], 24)
        for t in range(x.shape[1]):
            h = m.cell(x[:, t], h)
        return h

    return Wrapped(run, cell=nn.GRUCell(16, 24)), (torch.randn(3, 5, 16),)


@model
def swiglu():
    def run(m, x):
        h = m.norm(x)
        return x + m.down(F.silu(m.gate(h)) * m.up(h))

    parts = {"norm": nn.RMSNorm(32), "gate": nn.Linear(32, 64), "up": nn.Linear(32, 64), "down": nn.Linear(64, 32)}
    return Wrapped(run, **parts), (torch.randn(4, 7, 32),)


@model
def complex_rope():
    def run(m, x, angles):
        q = m.q(x).view(2, 7, 4, 8)
        z = torch.view_as_complex(q.reshape(2, 7, 4, 4, 2)) * torch.polar(torch.ones_like(angles), angles)[None, :, None, :]
        return torch.view_as_real(z).flatten(3)

    return Wrapped(run, q=nn.Linear(32, 32)), (torch.randn(2, 7, 32), torch.randn(7, 4))


@model
def losses():
    def run(m, x, y, t):
        z = m.l(x)
        parts = [F.mse_loss(z, y), F.smooth_l1_loss(z, y), F.huber_loss(z, y), F.binary_cross_entropy_with_logits(z, y.sigmoid()),
                 F.binary_cross_entropy(z.sigmoid(), y.sigmoid()), F.cross_entropy(z, t, label_smoothing=0.1), F.l1_loss(z, y),
                 F.kl_div(F.log_softmax(z, -1), F.softmax(y, -1), reduction="batchmean"), F.softplus(z).mean(), F.elu(z).mean(),
                 F.leaky_relu(z).mean(), F.hardswish(z).mean(), F.mish(z).mean(), F.prelu(z, m.a).mean(), F.logsigmoid(z).mean(),
                 torch.logsumexp(z, 1).mean(), z.std(), z.norm()]  # fmt: skip
        return sum(parts)

    net = Wrapped(run, l=nn.Linear(16, 10))
    net.a = nn.Parameter(torch.full((1,), 0.2))
    return net, (torch.randn(8, 16), torch.randn(8, 10), torch.randint(0, 10, (8,)))


@model
def router():
    def run(m, x):
        weights, chosen = m.gate(x).softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        mask = F.one_hot(chosen, 4).to(x.dtype)
        parts = torch.stack([e(x) for e in m.experts], 1)
        return torch.einsum("bke,bk,bed->bd", mask, weights, parts)

    return Wrapped(run, gate=nn.Linear(16, 4), experts=nn.ModuleList(nn.Linear(16, 16) for _ in range(4))), (torch.randn(6, 16),)


@model
def convolutions_1d():
    from torch.nn.utils.parametrizations import weight_norm

    net = nn.Sequential(weight_norm(nn.Conv1d(4, 8, 3, padding=1)), nn.LeakyReLU(0.1), nn.ConvTranspose1d(8, 4, 4, 2, 1), nn.Tanh(),
                        nn.ReflectionPad1d(2), nn.Conv1d(4, 2, 3), nn.PReLU())  # fmt: skip
    return net, (torch.randn(2, 4, 16),)


@model
def graph_convolution():
    def run(m, x, edges):
        source, target = edges
        degree = torch.zeros(x.shape[0], dtype=x.dtype).index_add(0, target, torch.ones(edges.shape[1], dtype=x.dtype)) + 1
        scale = degree.rsqrt()
        for layer in m.layers:
            h = layer(x) * scale[:, None]
            x = F.relu((h + torch.zeros_like(h).index_add(0, target, h[source])) * scale[:, None])
        return x

    return Wrapped(run, layers=nn.ModuleList([nn.Linear(16, 16), nn.Linear(16, 8)])), (torch.randn(10, 16), torch.randint(0, 10, (2, 30)))


@model
def graph_attention():
    def run(m, x, edges):
        source, target = edges
        h = m.l(x)
        score = F.leaky_relu(m.a(torch.cat([h[source], h[target]], -1)).squeeze(-1))
        most = torch.zeros(10, dtype=x.dtype).scatter_reduce(0, target, score.detach(), "amax")
        power = (score - most[target]).exp()
        total = torch.zeros(10, dtype=x.dtype).scatter_add(0, target, power)
        return torch.zeros_like(h).index_add(0, target, h[source] * (power / (total[target] + 1e-9))[:, None])

    return Wrapped(run, l=nn.Linear(16, 8), a=nn.Linear(16, 1)), (torch.randn(10, 16), torch.randint(0, 10, (2, 30)))


@model
def dlrm():
    def run(m, dense, sparse):
        parts = [m.bottom(dense)] + [table(sparse[:, i]) for i, table in enumerate(m.tables)]
        z = torch.stack(parts, 1)
        pairs = torch.bmm(z, z.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1)
        return m.top(torch.cat([parts[0], pairs[:, i, j]], 1))

    parts = {"bottom": nn.Sequential(nn.Linear(8, 16), nn.ReLU()), "tables": nn.ModuleList(nn.Embedding(20, 16) for _ in range(3)),
             "top": nn.Sequential(nn.Linear(22, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())}  # fmt: skip
    return Wrapped(run, **parts), (torch.randn(6, 8), torch.randint(0, 20, (6, 3)))


@model
def deeplab_head():
    def run(m, x):
        whole = F.interpolate(m.pool(F.adaptive_avg_pool2d(x, 1)), x.shape[2:], mode="nearest")
        z = torch.cat([conv(x) for conv in m.convs] + [whole], 1)
        return F.interpolate(m.last(F.relu(m.norm(z))), scale_factor=2, mode="bilinear")

    convs = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=d, dilation=d) for d in (1, 2)])
    return Wrapped(run, convs=convs, pool=nn.Conv2d(8, 8, 1), norm=nn.BatchNorm2d(24), last=nn.Conv2d(24, 3, 1)), (torch.randn(2, 8, 8, 8),)


@model
def inverted_residual():
    """A block of MobileNetV3 and EfficientNet: depthwise convolution, and channels weighed by their means."""

    def run(m, x):
        h = F.hardswish(m.n1(m.c1(x)))
        h = F.hardswish(m.n2(m.c2(h)))
        h = h * F.hardsigmoid(m.up(F.silu(m.down(F.adaptive_avg_pool2d(h, 1)))))
        return x + m.n3(m.c3(h))

    parts = {"c1": nn.Conv2d(8, 24, 1, bias=False), "n1": nn.BatchNorm2d(24), "c2": nn.Conv2d(24, 24, 3, padding=1, groups=24, bias=False),
             "n2": nn.BatchNorm2d(24), "down": nn.Conv2d(24, 6, 1), "up": nn.Conv2d(6, 24, 1), "c3": nn.Conv2d(24, 8, 1, bias=False),
             "n3": nn.BatchNorm2d(8)}  # fmt: skip
    return Wrapped(run, **parts), (torch.randn(4, 8, 12, 12),)


@model
def pools():
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.SiLU(), nn.MaxPool2d(2), nn.BatchNorm2d(8), nn.Hardswish(), nn.AvgPool2d(2),
                        nn.Flatten(), nn.Linear(8 * 9, 5))  # fmt: skip
    return net, (torch.randn(4, 3, 16, 16),)


# Trials.


def distances(model, exact):
    """The largest error of a gradient, relative to the largest gradient of the model."""
    largest = max((q.grad.abs().max().item() for q in exact.parameters() if q.grad is not None), default=1.0) or 1.0
    worst = 0.0
    for p, q in zip(model.parameters(), exact.parameters()):
        if q.grad is None:
            if p.grad is not None and p.grad.abs().max() != 0:
                return float("inf")
            continue
        worst = max(worst, (p.grad.double() - q.grad).abs().max().item() / largest)
    return worst


def doubled(x):
    return x.double() if isinstance(x, torch.Tensor) and x.dtype.is_floating_point else x


def step(call, module, inputs, rate):
    made = call(**inputs) if isinstance(inputs, dict) else call(*inputs)
    loss = loss_of(made)
    module.zero_grad()
    loss.backward()
    return loss.item()


def descend(module, rate):
    with torch.no_grad():
        for p in module.parameters():
            if p.grad is not None:
                p -= rate * p.grad


def trial(make, steps, rate=0.02):
    """A row: worst errors here and of eager f32, and the graphs that were compiled."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    module, inputs = make()
    module.train()
    eager, exact = copy.deepcopy(module), copy.deepcopy(module).double()
    wide = {k: doubled(v) for k, v in inputs.items()} if isinstance(inputs, dict) else tuple(map(doubled, inputs))
    compiled = torch.compile(module, backend=backend)
    begun, here, there, right = len(graphs()), 0.0, 0.0, True
    for _ in range(steps):
        losses = [step(compiled, module, inputs, rate), step(eager, eager, inputs, rate), step(exact, exact, wide, rate)]
        mine = max(abs(losses[0] - losses[2]) / (1 + abs(losses[2])), distances(module, exact))
        other = max(abs(losses[1] - losses[2]) / (1 + abs(losses[2])), distances(eager, exact))
        here, there = max(here, mine), max(there, other)
        right = right and mine <= 10 * there + 2e-6 and there < 0.01
        for m in (module, eager, exact):
            descend(m, rate)
    for (name, p), q in zip(module.named_buffers(), exact.buffers()):
        if p.dtype.is_floating_point:
            right = right and bool(((p.double() - q).abs() <= 1e-4 * (1 + q.abs())).all())
        else:
            right = right and torch.equal(p, q)
    return here, there, right, graphs()[begun:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    if given.list:
        print("\n".join(ZOO))
        return 0
    unknown = [name for name in given.names if name not in ZOO]
    if unknown:
        parser.error(f"no model {unknown[0]}; --list names them")
    right = wrong = skipped = whole = 0
    fused = left = 0
    reasons = {}
    print(f"{'model':22} {'':5} {'error':>9} {'eager':>9} {'graphs':>6} {'pieces':>6} {'share':>6} {'seconds':>7}")
    for name in given.names or ZOO:
        begun = time.time()
        try:
            here, there, good, made = trial(ZOO[name], given.steps)
        except ImportError as error:
            skipped += 1
            print(f"{name:22} skipped: {error}")
            continue
        except Exception as error:
            wrong += 1
            print(f"{name:22} failed: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
            continue
        right, wrong = right + good, wrong + (not good)
        mine, other = sum(g.fused for g in made), sum(g.torch for g in made)
        whole += not made or any(g.whole for g in made)
        fused, left = fused + mine, left + other
        for g in made:
            for key, count in g.left.items():
                reasons[key] = reasons.get(key, 0) + count
        share = mine / (mine + other) if mine + other else 1.0
        pieces = sum(g.pieces for g in made)
        verdict = "right" if good else "WRONG"
        print(f"{name:22} {verdict:5} {here:9.1e} {there:9.1e} {len(made):6} {pieces:6} {share:6.1%} {time.time() - begun:7.1f}", flush=True)
    print(f"{right} right, {wrong} wrong, {skipped} skipped, {whole} with a graph that torch runs as a whole; "
          f"{fused} of {fused + left} nodes run in Fuser ({fused / max(fused + left, 1):.1%})")  # fmt: skip
    for (name, reason), count in sorted(reasons.items(), key=lambda row: (-row[1], row[0])):
        print(f"  {count:4} {name}: {reason}")
    return int(wrong > 0 or whole > 0)


if __name__ == "__main__":
    sys.exit(main())
