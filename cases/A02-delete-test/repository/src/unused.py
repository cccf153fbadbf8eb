def nobody_calls_this():
    return None
