"""Known networks: their parameters' names and numbers, their shapes, and what asking for weights gives."""

from __future__ import annotations

import pytest

from slipstream import autograd, init, np
from slipstream.gluon.model_zoo import get_model, vision

# Numbers of parameters for 1000 classes, running statistics included, as MXNet's zoo has them.
COUNTS = {
    "resnet18_v1": 11_699_112,
    "resnet50_v1": 25_629_032,
    "resnet18_v2": 11_695_796,
    "mobilenet1.0": 4_253_864,
    "mobilenetv2_1.0": 3_539_136,
    "squeezenet1.1": 1_235_496,
}
SMALL = {
    "mobilenet0.25": 32,
    "mobilenetv2_0.25": 32,
    "mobilenetv3_small": 32,
    "squeezenet1.1": 224,
}


@pytest.mark.parametrize("name", COUNTS)
def test_as_many_parameters_as_mxnet_s(name: str) -> None:
    net = get_model(name)
    net.initialize(init.Zero())
    size = SMALL.get(name, 32)
    net(np.ones((1, 3, size, size)))
    assert net.collect_params().count() == COUNTS[name]


@pytest.mark.parametrize("name", ["resnet18_v1", "resnet18_v2", "resnet50_v1", "resnet50_v2"])
def test_residual_networks_of_small_images(name: str) -> None:
    net = get_model(name, classes=10, thumbnail=True)
    net.initialize()
    x = np.random.normal(size=(2, 3, 16, 16))
    assert net(x).shape == (2, 10)
    if "18" in name:
        with autograd.record():
            out = net(x).sum()
        out.backward()
        assert net.output.weight.grad().asnumpy().any()


@pytest.mark.parametrize("name", SMALL)
def test_other_networks(name: str) -> None:
    net = get_model(name, classes=10)
    net.initialize()
    assert net(np.ones((1, 3, SMALL[name], SMALL[name]))).shape == (1, 10)


def test_tiny_members_of_the_large_families() -> None:
    vgg = vision.VGG([1, 1], [4, 8], classes=5, batch_norm=True)
    dense = vision.DenseNet(8, 4, [2, 2], classes=5)
    for net, size in ((vgg, 16), (dense, 64)):
        net.initialize()
        if net is dense:  # 7x7 means at the end
            size = 56
        assert net(np.ones((1, 3, size, size))).shape == (1, 5)


def test_parameters_have_mxnet_s_names() -> None:
    names = list(get_model("resnet18_v2").collect_params())
    for name in (
        "features.0.gamma",
        "features.1.weight",
        "features.5.0.bn1.running_mean",
        "features.6.0.downsample.weight",
        "features.8.1.conv2.weight",
        "output.weight",
    ):
        assert name in names
    names = list(get_model("resnet50_v1").collect_params())
    assert "features.4.0.body.0.weight" in names
    assert "features.4.0.downsample.0.weight" in names
    assert "features.2.out.3.weight" not in names
    assert "features.3.out.6.weight" in list(get_model("mobilenetv2_1.0").collect_params())


def test_every_name_of_mxnet() -> None:
    names = """AlexNet BasicBlockV1 BasicBlockV2 BottleneckV1 BottleneckV2 DenseNet Inception3 MobileNet MobileNetV2
        ResNetV1 ResNetV2 SqueezeNet VGG alexnet densenet121 densenet161 densenet169 densenet201 get_mobilenet
        get_mobilenet_v2 get_model get_resnet get_vgg inception_v3 mobilenet0_25 mobilenet0_5 mobilenet0_75 mobilenet1_0
        mobilenet_v2_0_25 mobilenet_v2_0_5 mobilenet_v2_0_75 mobilenet_v2_1_0 resnet101_v1 resnet101_v2 resnet152_v1
        resnet152_v2 resnet18_v1 resnet18_v2 resnet34_v1 resnet34_v2 resnet50_v1 resnet50_v2 squeezenet1_0
        squeezenet1_1 vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn"""
    assert set(names.split()) <= set(vision.__all__)
    for name in vision.__all__:
        value = getattr(vision, name)
        assert value.__doc__, name
        if name[0].islower() and not name.startswith("get_"):
            assert callable(value), name
            value(classes=3)
    assert repr(vision.vgg11) == "<function vgg11>"


def test_errors() -> None:
    with pytest.raises(NotImplementedError, match=r"weights do not come with the networks.*load_parameters"):
        vision.resnet18_v1(pretrained=True)
    with pytest.raises(ValueError, match=r"get_model: 'resnet19' is none of .*vgg11"):
        get_model("resnet19")
    with pytest.raises(ValueError, match="num_layers=12 is none of 11, 13, 16, 19"):
        vision.get_vgg(12)
    with pytest.raises(ValueError, match="version=3"):
        vision.get_resnet(3, 18)
    with pytest.raises(ValueError, match="num_layers=1 is none of"):
        vision.get_densenet(1)
    with pytest.raises(ValueError, match="version='2' is none of"):
        vision.SqueezeNet("2")
    with pytest.raises(ValueError, match="size='tiny' is neither"):
        vision.MobileNetV3("tiny")
    with pytest.raises(ValueError, match="2 stages need 3 channels"):
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8])
    with pytest.raises(ValueError, match="1 layers for 2 filters"):
        vision.VGG([1], [2, 3])
