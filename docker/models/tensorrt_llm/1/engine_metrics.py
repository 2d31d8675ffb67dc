"""The nv_trt_llm_* gauges on Triton's own metrics port.

Families, labels and values: `custom_metrics_reporter.cc` of the TensorRT-LLM backend. A gauge is set only when its
value changed, because each call crosses to the server process.
"""

import time

import triton_python_backend_utils as pb_utils

_FAMILIES = {
    "nv_trt_llm_request_metrics": ("request_type", "TRT LLM request metrics",
        ("active", "max", "scheduled", "context", "waiting")),
    "nv_trt_llm_runtime_memory_metrics": ("memory_type", "TRT LLM runtime memory metrics",
        ("cpu", "gpu", "pinned")),
    "nv_trt_llm_kv_cache_block_metrics": ("kv_cache_block_type", "TRT LLM KV cache block metrics",
        ("max", "free", "used", "tokens_per", "reused", "fraction")),
    "nv_trt_llm_inflight_batcher_metrics": ("inflight_batcher_specific_metric", "TRT LLM inflight_batcher-specific metrics",
        ("total_context_tokens", "generation_requests", "micro_batch_id", "paused_requests")),
    "nv_trt_llm_general_metrics": ("general_type", "General TRT LLM metrics",
        ("timestamp", "iteration_counter")),
}


class EngineMetrics:
    """Owns the families: a gauge whose family object was collected can no longer be set."""

    def __init__(self, model, version):
        self._families, self._gauges, self._last = [], {}, {}
        for family_name, (label, text, values) in _FAMILIES.items():
            family = pb_utils.MetricFamily(name=family_name, description=text, kind=pb_utils.MetricFamily.GAUGE)
            self._families.append(family)
            for value in values:
                labels = {"model": model, "version": version, label: value}
                self._gauges[value if family_name != "nv_trt_llm_kv_cache_block_metrics" else f"kv_{value}"] = (
                    family.Metric(labels=labels))

    def publish(self, engine):
        """Sets every gauge to the state of the engine at this moment."""
        pool, active = engine.pool, engine.active
        context = [s for s in active if s.in_context_phase]
        # Each gauge crosses to the server by itself, and a reader may come between two of them. Whoever sees nothing
        # active must see the rest as it is then, so the request gauges come last.
        values = {
            "cpu": engine.memory_bytes,
            "gpu": 0,
            "pinned": 0,
            "kv_max": pool.total,
            "kv_free": pool.total - pool.used,
            "kv_used": pool.used,
            "kv_tokens_per": pool.tokens_per_block,
            "kv_reused": pool.reused_ever,
            "kv_fraction": pool.used / pool.total,
            "total_context_tokens": sum(len(s.prompt) for s in context),
            "generation_requests": len(active) - len(context),
            "micro_batch_id": 0,
            "paused_requests": 0,
            "max": engine.limits.max_num_sequences,
            "scheduled": len(active),
            "context": len(context),
            "waiting": len(engine.waiting),
            "active": len(active),
        }
        changed = {name: value for name, value in values.items() if self._last.get(name) != value}
        if changed:
            changed = {"timestamp": int(time.time()), "iteration_counter": engine.iteration, **changed}
        for name, value in changed.items():
            self._gauges[name].set(value)
        self._last.update(changed)

    def close(self):
        """Takes the families off the server's page, each with its gauges, while there is a back end to say so to: the
        destructor of a family that outlives `finalize` writes to shared memory that the process no longer has."""
        self._gauges.clear()
        self._families.clear()
