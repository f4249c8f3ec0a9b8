"""MXNet's place: its imports find Slipstream, and names that are missing say what to use."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import pickle
import slipstream, slipstream.as_mxnet
import mxnet as mx
from mxnet import autograd, context, gluon, image, init, lr_scheduler, np, npx
from mxnet.gluon import nn, rnn
from mxnet.gluon.data.vision import transforms
import mxnet.numpy as mnp
import mxnet.gluon.loss
npx.set_np()
mx.random.seed(1)
assert mnp is np is slipstream.np and gluon is slipstream.gluon and nn is slipstream.gluon.nn
assert np.__name__ == 'slipstream.np' and gluon.__spec__.name == 'slipstream.gluon'
assert mx.cpu(1) == npx.cpu(1) == context.cpu(1) and mx.num_gpus() == 0 and mx.current_context() == mx.cpu()
net = nn.Sequential()
net.add(nn.Dense(8, activation='relu'), nn.Dense(1))
net.initialize(init.Normal(sigma=0.1), ctx=mx.cpu())
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
loss = gluon.loss.L2Loss()
x, y = np.random.normal(size=(32, 3), ctx=mx.cpu()), np.ones((32, 1))
first = None
for _ in range(20):
    with autograd.record():
        l = loss(net(x), y)
    l.backward()
    trainer.step(32)
    first = first or float(l.mean())
assert float(l.mean()) < first / 2
assert mx.nd.NDArray is np.ndarray and float(mx.nd.nansum(np.array([1.0, float('nan')]))) == 1
mx.nd.waitall()
assert mx.random.uniform(1, 2, shape=(2, 3)).shape == mx.nd.random.normal(shape=(2, 3), ctx=mx.cpu()).shape == (2, 3)
mx.rnd.seed(7, ctx=mx.cpu())
assert mx.rnd is mx.random and mx.img is mx.image is image
shuffled = mx.random.shuffle(np.arange(9))
assert float(shuffled.sum()) == 36
assert mx.Context(mx.cpu(1)) == mx.Device(mx.cpu(1)) == context.Context('cpu', 1)
assert mx.Context(device_type='cpu', device_id=1) == mx.cpu(1)
assert isinstance(mx.cpu(), mx.Context) and isinstance(np.ones(1).ctx, mx.Device)
p = np.array([[0.0, 1.0], [1.0, 0.0]])
assert mx.random.multinomial(p).tolist() == mx.nd.random.multinomial(data=p).tolist() == [1, 0]
assert mx.random.multinomial(p, 2).shape == (2, 2) and len(mx.random.multinomial(p, get_prob=True)) == 2
assert mx.random.multinomial(n=np.array([3, 4]), p=p).tolist() == [[0, 3], [4, 0]]
assert mx.random.multinomial([3, 4], p).tolist() == [[0, 3], [4, 0]] and mx.random.multinomial(3, (0.0, 1.0))[1] == 3
assert mx.random.multinomial(n=3, pvals=[0.0, 1.0]).tolist() == mx.random.multinomial(3, pvals=[0.0, 1.0]).tolist()
assert mx.random.multinomial(3, [0.5, 0.5], size=4).shape == mx.random.multinomial(3, (1.0, 0), size=4).shape == (4, 2)
assert mx.random.negative_binomial(n=2, p=0.5, size=4).shape == (4,)
assert mx.random.normal([0, 1], 1, shape=3).shape == (2, 3)
assert mx.random.categorical(p, shape=3).shape == (2, 3)
assert mx.random.generalized_negative_binomial(mu=2, alpha=0.5, shape=(2, 3)).shape == (2, 3)
assert mx.random.gamma(alpha=2, beta=3, shape=4).shape == mx.random.negative_binomial(k=2, p=0.5, shape=4).shape == (4,)
assert mx.random.normal(np.zeros(3), np.ones(3), shape=2).shape == (3, 2) and mx.random.randn(2, 3).shape == (2, 3)
from mxnet.numpy_extension import control_flow
assert npx.control_flow.foreach is control_flow.foreach is npx.foreach
@mx.util.use_np_default_dtype
def wide(x):
    return np.ones(x).dtype
@mx.use_np_default_dtype
class Wide:
    def __call__(self):
        with mx.np_default_dtype(False):
            narrow = np.ones(2).dtype
        return narrow, np.ones(2).dtype
assert wide(x=2) == 'float64' and Wide()() == ('float32', 'float64') and np.ones(2).dtype == 'float32'
with mx.np_shape(), mx.util.np_array(True):
    assert mx.is_np_shape() and mx.is_np_array() and mx.set_np_shape(True) and not mx.is_np_default_dtype()
assert mx.use_np(wide) is mx.use_np_shape(wide) is mx.use_np_array(wide) is wide
metric = mx.metric.Accuracy()
metric.update([np.array([1])], [np.array([[0.0, 1.0]])])
assert metric.get() == ('accuracy', 1.0)
mx.test_utils.assert_almost_equal(np.ones(2), [1, 1])
assert not list(mx.test_utils.list_gpus())
import pathlib, tempfile
folder = pathlib.Path(tempfile.mkdtemp())
(folder / 'there.txt').write_text('x')
assert mx.test_utils.download((folder / 'there.txt').as_uri(), dirname=str(folder / 'a')) == str(folder / 'a/there.txt')
assert (folder / 'a/there.txt').read_text() == 'x'
for part in ('train', 't10k'):
    head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    (folder / f'{part}-images-idx3-ubyte').write_bytes(head + bytes([51] * 784))
    (folder / f'{part}-labels-idx1-ubyte').write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
mnist = mx.test_utils.get_mnist(str(folder))
assert mnist['train_data'].shape == (1, 1, 28, 28) and mnist['test_label'] == 7
assert 0.19 < mnist['test_data'].max() < 0.21
assert mx.util.is_np_array() and mx.kv.create('local').type == 'local'
assert issubclass(mx.base.MXNetError, RuntimeError) and mx.__version__.startswith('2.')
for wrong, usual in {
    'np.ones((2, 3)).reshape(4)': ValueError,
    'np.ones((2, 3)) + np.ones((4, 5))': ValueError,
    'np.dot(np.ones((2, 3)), np.ones((4, 5)))': ValueError,
    'np.sum(np.ones(2), axis=5)': ValueError,
    'np.ones(2).backward()': RuntimeError,
    'np.ones(2, ctx=mx.gpu(0))': RuntimeError,
    'npx.activation(np.ones(2), "bogus")': ValueError,
    'npx.load("/nowhere/at/all")': FileNotFoundError,
    'net.load_parameters("/nowhere")': FileNotFoundError,
    'npx.load("/")': IsADirectoryError,
    'npx.load("/dev/null")': ValueError,
}.items():
    try:
        eval(wrong)
        raise AssertionError(wrong)
    except mx.MXNetError as error:
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, usual) and isinstance(again, mx.MXNetError) and str(again) == str(error), wrong
for code, words in {
    'mx.sym.var': 'mxnet.sym does not exist in Slipstream: write the model as a gluon.HybridBlock',
    'mx.nd.softmax': 'use mx.npx.softmax',
    'mx.nd.FullyConnected': 'see mx.np and mx.npx',
    'import mxnet.symbol': 'mxnet.symbol does not exist in Slipstream',
    'from mxnet import recordio': 'use gluon.data.RecordFileDataset',
    'import mxnet.gluon.bogus': 'mxnet.gluon.bogus does not exist in Slipstream: see mxnet.gluon',
    'import mxnet.gluon.nn.bogus': 'mxnet.gluon.nn.bogus does not exist in Slipstream: see mxnet.gluon.nn',
    'from mxnet.gluon.nn import bogus': 'cannot import name',
    'import mxnet.image.detection': 'use gluon.data.vision.transforms',
    'import mxnet.gluon.contrib.rnn.rnn_cell': 'its layers are in gluon.nn and gluon.rnn',
    'mx.nonsense': 'mxnet.nonsense does not exist in Slipstream',
    'mx.image.ImageIter': 'mxnet.image.ImageIter does not exist in Slipstream: use gluon.data.vision.transforms',
    'from mxnet.image import ImageIter': 'use gluon.data.vision.transforms',
    'mx.profiler.set_config(profile_all=True)': 'use `with profiler.trace',
    'from mxnet.profiler import set_state': 'use `with profiler.trace',
    'mx.gluon.probability.Normal': 'mxnet.gluon.probability does not exist in Slipstream: use np.random',
    'from mxnet.gluon import probability': 'use np.random',
    'import mxnet.gluon.probability': 'use np.random',
    'from mxnet.gluon.contrib.nn import Concurrent': 'its layers are in gluon.nn',
    'np.NaN': 'mxnet.np.NaN does not exist in Slipstream: use np.nan',
    'from mxnet.np import sometrue': 'use np.any',
    'mx.autograd.get_symbol(x)': 'mxnet.autograd.get_symbol does not exist in Slipstream: there are no symbols',
    'from mxnet.autograd import get_symbol': 'there are no symbols',
    'mx.random.bogus': 'mxnet.random.bogus does not exist in Slipstream: see mx.np.random and mx.npx.random',
    'np.nonsense': "module 'slipstream.np' has no attribute 'nonsense'",
    'gluon.nonsense': "module 'slipstream.gluon' has no attribute 'nonsense'",
}.items():
    try:
        exec(code)
    except (AttributeError, ImportError) as error:
        assert words in str(error), (code, str(error))
    else:
        raise AssertionError(code)
assert not hasattr(np, 'NaN') and image.imread and gluon.contrib.estimator.Estimator
print('fine')
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=100)


def test_a_program_written_for_mxnet() -> None:
    done = run(PROGRAM)
    assert done.stdout.strip() == "fine", done.stderr


def test_numpy_is_always_on() -> None:
    done = run("import slipstream.as_mxnet, mxnet as mx; mx.np_shape(False)")
    assert "np_shape, np_array: shapes and arrays are always NumPy's here" in done.stderr


INNER = """
import importlib
import slipstream.as_mxnet as place
import mxnet as mx
for module, names in {
    'gluon.contrib.estimator.event_handler': 'CheckpointHandler TrainBegin',
    'gluon.contrib.estimator.estimator': 'Estimator',
    'gluon.contrib.estimator.batch_processor': 'BatchProcessor',
    'gluon.nn.basic_layers': 'Dense BatchNorm HybridSequential',
    'gluon.nn.conv_layers': 'Conv2D MaxPool2D',
    'gluon.nn.activations': 'PReLU GELU',
    'gluon.rnn.rnn_layer': 'LSTM',
    'gluon.rnn.rnn_cell': 'LSTMCell ZoneoutCell',
    'gluon.rnn.conv_rnn_cell': 'Conv2DLSTMCell',
    'gluon.block': 'HybridBlock',
    'gluon.parameter': 'Parameter',
    'gluon.trainer': 'Trainer',
    'gluon.metric': 'Accuracy',
    'gluon.data.dataloader': 'DataLoader',
    'gluon.data.vision.datasets': 'MNIST',
    'gluon.data.vision.transforms': 'ToTensor',
    'gluon.model_zoo.vision.resnet': 'resnet18_v1',
    'metric': 'Accuracy',
    'optimizer.optimizer': 'Optimizer SGD Updater',
    'optimizer.sgd': 'SGD',
    'optimizer.adamW': 'AdamW',
    'optimizer.updater': 'Updater',
    'lr_scheduler': 'CosineScheduler',
    'kvstore.base': 'KVStoreBase',
    'image.image': 'imread',
    'numpy.multiarray': 'ndarray',
    'numpy.linalg': 'norm',
    'numpy_extension.random': 'seed',
    'numpy_extension.control_flow': 'foreach while_loop cond',
}.items():
    by_attribute = mx
    for part in module.replace('numpy_extension', 'npx').replace('numpy', 'np').split('.'):
        by_attribute = getattr(by_attribute, part)
    found = importlib.import_module('mxnet.' + module)
    assert by_attribute is found, module
    for name in names.split():
        exec(f'from mxnet.{module} import {name}')
        assert getattr(found, name) is eval(name)
for ours, names in place._INNER.items():
    assert not set(names) & set(importlib.import_module(ours).__all__), ours
print('fine')
"""


def test_modules_within_modules() -> None:
    done = run(INNER)
    assert done.stdout.strip() == "fine", done.stderr
    done = run("import slipstream.as_mxnet, mxnet as mx; mx.gluon.contrib.nn")
    assert "mxnet.gluon.contrib.nn does not exist in Slipstream: its layers are in gluon.nn" in done.stderr


def test_mxnet_itself_is_not_replaced() -> None:
    done = run("import sys, types; sys.modules['mxnet'] = types.ModuleType('mxnet'); import slipstream.as_mxnet")
    assert "MXNet itself is imported already; import slipstream.as_mxnet first" in done.stderr
