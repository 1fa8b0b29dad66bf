"""The smallest function: greets whoever asks."""


def handler(request):
    name = request.query.get("name", "world")
    return {"message": f"Hello, {name}!"}
