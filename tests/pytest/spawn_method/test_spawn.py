import multiprocessing


def work(queue):
    queue.put(42)


def test_spawn():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    assert queue.get(timeout=30) == 42
    process.join()
