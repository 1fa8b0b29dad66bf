"""A small price list with FastAPI: validation, docs and errors as it has them."""

from decimal import Decimal

from fastapi import FastAPI
from pydantic import BaseModel, Field

app = FastAPI(title="Orders")


class Line(BaseModel):
    """So many pieces of one article."""

    article: str
    pieces: int = Field(gt=0)
    price: Decimal = Field(ge=0, decimal_places=2)


class Order(BaseModel):
    """What somebody wants to buy."""

    lines: list[Line] = Field(min_length=1)


class Total(BaseModel):
    """What it costs."""

    pieces: int
    total: Decimal


@app.get("/")
async def index() -> dict[str, str]:
    return {"message": "POST an order to /total; the API is described at /openapi.json."}


@app.post("/total")
async def total(order: Order) -> Total:
    return Total(
        pieces=sum(line.pieces for line in order.lines),
        total=sum((line.pieces * line.price for line in order.lines), start=Decimal(0)),
    )
