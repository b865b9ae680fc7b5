def price(amount):
    if amount > 10:
        return amount * 9
    return amount * 10


def unused():
    return None
