"""Normalisation layers."""

from __future__ import annotations

from typing import Any

import numpy

from ... import autograd, np, npx
from ..._core import ndarray
from ..block import HybridBlock
from ..parameter import Parameter

__all__ = ["BatchNorm", "BatchNormReLU", "GroupNorm", "InstanceNorm", "LayerNorm", "SyncBatchNorm"]


class _Norm(HybridBlock):
    """A layer with gamma and beta, one for each place along an axis."""

    def __init__(
        self,
        axis: int,
        epsilon: float,
        center: bool,
        scale: bool,
        beta_initializer: Any,
        gamma_initializer: Any,
        in_channels: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._axis = axis
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self.gamma = self._statistic("gamma", in_channels, gamma_initializer, scale)
        self.beta = self._statistic("beta", in_channels, beta_initializer, center)

    @staticmethod
    def _statistic(name: str, channels: int, init: Any, learnt: bool) -> Parameter:
        return Parameter(
            name,
            grad_req="write" if learnt else "null",
            shape=(channels or -1,),
            init=init,
            allow_deferred_init=True,
            differentiable=learnt,
        )

    def infer_shape(self, x: ndarray, *args: Any) -> None:
        """The number of channels is that of the first batch."""
        for parameter in self._reg_params.values():
            parameter.shape = (x.shape[self._axis],)

    def __repr__(self) -> str:
        channels = (self.gamma.shape or (-1,))[0]
        flags = f"axis={self._axis}, eps={self._epsilon}, center={self._center}, scale={self._scale}"
        return f"{type(self).__name__}({flags}, in_channels={channels if channels > 0 else None})"


class BatchNorm(_Norm):
    """Subtracts the mean of a channel over the batch and divides by its deviation; then `gamma * x + beta`.

    While training the statistics are the batch's, and `running_mean` and `running_var` follow them as
    `momentum * running + (1 - momentum) * batch`; else, and with `use_global_stats`, the running ones are used. On
    several devices each has running statistics of its own.

    >>> from slipstream.gluon import nn
    >>> layer = nn.BatchNorm()
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 4))).shape
    (2, 3, 4)
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels, **kwargs)
        self._momentum = momentum
        self._use_global_stats = use_global_stats
        self.running_mean = self._statistic("running_mean", in_channels, running_mean_initializer, False)
        self.running_var = self._statistic("running_var", in_channels, running_variance_initializer, False)

    def cast(self, dtype: Any) -> None:
        """Changes the dtype of the parameters; they stay float32 where that is float16, whose sums are too coarse."""
        super().cast("float32" if numpy.dtype(dtype) == numpy.float16 else dtype)

    def forward(self, x: ndarray) -> ndarray:
        """The normalised batch."""
        device = x.device
        out: ndarray = npx.batch_norm(
            x,
            self.gamma.data(device),
            self.beta.data(device),
            self.running_mean.data(device),
            self.running_var.data(device),
            eps=self._epsilon,
            momentum=self._momentum,
            fix_gamma=not self._scale,
            use_global_stats=self._use_global_stats,
            axis=self._axis,
        )
        return out


class BatchNormReLU(BatchNorm):
    """`relu` of a batch norm.

    >>> from slipstream.gluon import nn
    >>> layer = nn.BatchNormReLU()
    >>> layer.initialize()
    >>> layer(-np.ones((2, 3)))
    array([[0., 0., 0.],
           [0., 0., 0.]])
    """

    def forward(self, x: ndarray) -> ndarray:
        """The normalised batch, its negative elements set to 0."""
        return npx.relu(super().forward(x))


class SyncBatchNorm(BatchNorm):
    """A batch norm whose statistics are those of all devices' batches together.

    It is called with the list of these, one for each device, and gives the list of results. A call with one array
    alone cannot know of the others, which the program has not made yet: with `num_devices` above 1 it raises, while
    training.

    >>> from slipstream.gluon import nn
    >>> devices = [npx.cpu(0), npx.cpu(1)]
    >>> layer = nn.SyncBatchNorm(in_channels=1, num_devices=2)
    >>> layer.initialize(device=devices)
    >>> with autograd.record():
    ...     low, high = layer([np.full((2, 1), float(i), device=device) for i, device in enumerate(devices)])
    >>> low.mean().item().__round__(3), high.mean().item().__round__(3)
    (-1.0, 1.0)
    """

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: int | None = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1,
            momentum,
            epsilon,
            center,
            scale,
            use_global_stats,
            beta_initializer,
            gamma_initializer,
            running_mean_initializer,
            running_variance_initializer,
            in_channels,
            **kwargs,
        )
        self._num_devices = num_devices

    def infer_shape(self, x: Any, *args: Any) -> None:
        """The number of channels is that of the first batch."""
        super().infer_shape(x[0] if isinstance(x, (list, tuple)) else x)

    def forward(self, x: Any) -> Any:
        """The normalised batch, or the list of them."""
        given = list(x) if isinstance(x, (list, tuple)) else [x]
        batch = autograd.is_training() and not self._use_global_stats
        if batch and self._num_devices is not None and self._num_devices != len(given):
            raise ValueError(
                f"{self.name}: SyncBatchNorm(num_devices={self._num_devices}) was called with {len(given)} array(s); "
                "while training, give it the list of all devices' batches"
            )
        forward = super().forward
        together = batch and len(given) > 1 and any(part.size for part in given)
        made = self._together(given) if together else [forward(part) for part in given]
        return made if isinstance(x, (list, tuple)) else made[0]

    def _together(self, given: list[ndarray]) -> list[ndarray]:
        """All by the same statistics: means and squares are summed on the first device and handed out."""
        home, count = given[0].device, sum(part.size // part.shape[1] for part in given)
        axes = tuple(i for i in range(given[0].ndim) if i != 1)

        def over_all(parts: list[ndarray]) -> Any:
            return sum(part.sum(axis=axes, keepdims=True).as_in_device(home) for part in parts) / count

        mean = over_all(given)
        centred = [part - mean.as_in_device(part.device) for part in given]
        var = over_all([part * part for part in centred])
        inverse = 1 / np.sqrt(var + self._epsilon)
        made = []
        for part in centred:
            device = part.device
            with autograd.pause(train_mode=True):
                for running, now in ((self.running_mean, mean), (self.running_var, var)):
                    data = running.data(device)
                    now = now.as_in_device(device).reshape(data.shape)
                    data[...] = data * self._momentum + now * (1 - self._momentum)
            gamma, beta = (p.data(device).reshape(mean.shape) for p in (self.gamma, self.beta))
            scale = inverse.as_in_device(device)
            made.append(part * (scale * gamma if self._scale else scale) + beta)
        return made


class LayerNorm(_Norm):
    """Normalises every example along an axis; then `gamma * x + beta`.

    >>> from slipstream.gluon import nn
    >>> layer = nn.LayerNorm()
    >>> layer.initialize()
    >>> layer(np.array([[1.0, 2.0, 3.0]])).sum().item()
    0.0
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels, **kwargs)

    def forward(self, x: ndarray) -> ndarray:
        """The normalised array."""
        device = x.device
        gamma, beta = self.gamma.data(device), self.beta.data(device)
        out: ndarray = npx.layer_norm(x, gamma, beta, self._axis, self._epsilon)
        return out


class GroupNorm(_Norm):
    """Normalises groups of channels (axis 1) of every example; then `gamma * x + beta` by channel.

    >>> from slipstream.gluon import nn
    >>> layer = nn.GroupNorm(num_groups=2)
    >>> layer.initialize()
    >>> layer(np.ones((2, 4, 3))).shape
    (2, 4, 3)
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(1, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels, **kwargs)
        self._num_groups = num_groups

    def forward(self, x: ndarray) -> ndarray:
        """The normalised array."""
        device = x.device
        gamma, beta = self.gamma.data(device), self.beta.data(device)
        out: ndarray = npx.group_norm(x, gamma, beta, num_groups=self._num_groups, eps=self._epsilon)
        return out


class InstanceNorm(_Norm):
    """Normalises every channel of every example; then `gamma * x + beta` by channel.

    >>> from slipstream.gluon import nn
    >>> layer = nn.InstanceNorm()
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 4))).shape
    (2, 3, 4)
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels, **kwargs)

    def forward(self, x: ndarray) -> ndarray:
        """The normalised array."""
        device = x.device
        gamma, beta = self.gamma.data(device), self.beta.data(device)
        if self._axis == 1:
            return npx.instance_norm(x, gamma, beta, eps=self._epsilon)
        return npx.instance_norm(x.swapaxes(1, self._axis), gamma, beta, eps=self._epsilon).swapaxes(1, self._axis)
