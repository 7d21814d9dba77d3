"""What a call cost, from the price table that comes with genai-prices; nothing is looked up."""

from patch_agent.core.values import Usage


def cost_usd(model: str, usage: Usage) -> float | None:
    """US dollars for the tokens of one call; None when the model's price is not known."""
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    # The table's `input_tokens` counts all input; the cached parts are then priced apart.
    everything = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    priced = Priced(
        input_tokens=everything,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        return float(calc_price(priced, model_ref=model, provider_id="anthropic").total_price)
    except (LookupError, ValueError):
        return None


def has_price(model: str) -> bool:
    """Whether a cost limit can be kept for this model."""
    return cost_usd(model, Usage(1, 1)) is not None
