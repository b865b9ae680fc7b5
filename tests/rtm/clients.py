"""A third-party client in typical use against the emulator.

    clients.py rtmilk|aiortm|rtmapi BASE KEY SECRET

They check what they get: rtmilk and aiortm hold every answer against typed models of the real service's JSON, RtmAPI
reads the XML. All of them have the service's address as a constant, which Python lets us set.

The Rust crate `rememberthemilk` (0.4.13) is not among them. Its two addresses are constants inside functions that only
its own tests can replace, and it insists on HTTPS, so it cannot be pointed at an emulator on loopback.
"""

import asyncio
import datetime
import sys
import urllib.parse
import urllib.request

CHECKED = 0


def check(holds, what):
    global CHECKED
    CHECKED += 1
    if not holds:
        sys.exit(f"wrong: {what}")


def equal(got, wanted):
    check(got == wanted, f"got {got!r}, wanted {wanted!r}")


def approve(url, base):
    """Submits the approval page: the form has the values of the link, and the decision."""
    at = urllib.parse.urlsplit(url)
    check(url.startswith(base), url)
    form = urllib.parse.parse_qsl(at.query) + [("decision", "allow")]
    answer = urllib.request.urlopen(f"{base}/services/auth/", urllib.parse.urlencode(form).encode(), timeout=30)
    check(b"Application allowed" in answer.read(), "the page says so")


def rtmilk(base, key, secret):
    import rtmilk.api_sync
    import rtmilk.authorization
    from rtmilk import API, AuthorizationSession, CreateClient
    from rtmilk.models import FailStat, PriorityDirectionEnum, PriorityEnum

    rtmilk.api_sync.REST_URL = f"{base}/services/rest/"
    rtmilk.authorization._AUTHORIZATION_URL = f"{base}/services/auth/"
    session = AuthorizationSession(key, secret, "delete")
    approve(session.url, base)
    token = session.Done()
    api = API(key, secret, token)
    equal(api.TestEcho(a="b").stat, "ok")
    equal(api.AuthCheckToken(token).auth.perms.value, "delete")
    timeline = api.TimelinesCreate().timeline
    made = api.ListsAdd(timeline, "Milk")
    equal(made.list.name, "Milk")
    smart = api.ListsAdd(timeline, "Urgent", filter="priority:1")
    equal(smart.list.filter, "priority:1")
    equal([one.name for one in api.ListsGetList().lists.list], ["Inbox", "Milk", "Urgent", "Sent"])
    equal(api.SettingsGetList().settings.pro, True)

    added = api.TasksAdd(timeline, "Buy milk ^tomorrow 9am !2 #Milk #dairy *every week", parse=True)
    equal(added.transaction.undoable, False)
    equal(added.list.id, made.list.id)
    series = added.list.taskseries[0]
    equal((series.name, series.tags.tag, series.task[0].has_due_time), ("Buy milk", ["dairy"], True))
    path = {"list_id": added.list.id, "taskseries_id": series.id, "task_id": series.task[0].id}
    equal(api.TasksSetName(timeline, **path, name="Buy oat milk").list.taskseries[0].name, "Buy oat milk")
    equal(api.TasksAddTags(timeline, **path, tags=["Shop"]).list.taskseries[0].tags.tag, ["dairy", "shop"])
    equal(api.TasksRemoveTags(timeline, **path, tags=["dairy"]).list.taskseries[0].tags.tag, ["shop"])
    equal(api.TasksSetTags(timeline, **path, tags=["a", "b"]).list.taskseries[0].tags.tag, ["a", "b"])
    up = api.TasksMovePriority(timeline, **path, direction=PriorityDirectionEnum.Up)
    equal(up.list.taskseries[0].task[0].priority, PriorityEnum.Priority1)
    equal(api.TasksSetPriority(timeline, **path).taskseries[0].task[0].priority, PriorityEnum.NoPriority)
    day = datetime.date.today() + datetime.timedelta(days=30)
    due = api.TasksSetDueDate(timeline, **path, due=day).list.taskseries[0].task[0]
    equal(due.has_due_time, False)
    start = api.TasksSetStartDate(timeline, **path, start="tomorrow", parse=True).list.taskseries[0].task[0]
    check(start.start < due.due, "it starts before it is due")
    late = api.TasksSetStartDate(timeline, **path, start=day + datetime.timedelta(days=3))
    equal((type(late), late.err.code), (FailStat, 4080))
    note = api.TasksNotesAdd(timeline, **path, note_title="Which", note_text="The one with the goat")
    equal((note.note.title, note.note.body), ("Which", "The one with the goat"))
    equal(sorted(tag.name for tag in api.TagsGetList().tags.tag), ["a", "b"])
    found = api.TasksGetList(filter="list:Milk AND tag:a").tasks.list
    equal([one.name for one in found[0].taskseries], ["Buy oat milk"])
    equal(api.TasksGetList(filter="tag:nothing").tasks.list, None)
    equal(api.TasksGetList(list_id=added.list.id, last_sync=datetime.datetime.now() + datetime.timedelta(days=2)).tasks.list[0].taskseries, None)
    done = api.TasksComplete(timeline, **path)
    equal(len(done.list.taskseries[0].task), 2)
    equal(api.TasksUncomplete(timeline, **path).list.taskseries[0].task[0].completed, None)
    check(api.TasksDelete(timeline, **path).list.taskseries[0].task[0].deleted is not None, "it says when")
    equal(api.TasksComplete(timeline, **path).err.code, 340)
    for change in (api.ListsArchive, api.ListsUnarchive, api.ListsDelete):
        equal(change(timeline, made.list.id).stat, "ok")
    equal(api.PushGetTopics().topics.topic[0], "changes_available")
    equal(api.PushGetSubscriptions().subscriptions, [])
    subscribed = api.PushSubscribe("https://hook.example/", "task_created", "json", timeline)
    equal(len(api.PushGetSubscriptions().subscriptions.subscription), 1)
    api.PushUnsubscribe(timeline, subscribed.subscription.id)

    client = CreateClient(key, secret, token)
    task = client.Add("Through the client")
    task.tags.Set({"x"})
    task.complete.Set(True)
    equal([one.name.value for one in client.Get("status:completed AND tag:x")], ["Through the client"])
    task.Delete()
    equal(client.Get("tag:x"), [])


def aiortm(base, key, secret):
    asyncio.run(aiortm_day(base, key, secret))


async def aiortm_day(base, key, secret):
    import aiohttp
    import aiortm.client
    from aiortm import AioRTMClient, Auth
    from aiortm.exceptions import APIAuthError, APIResponseError

    aiortm.client.REST_URL, aiortm.client.AUTH_URL = f"{base}/services/rest/", f"{base}/services/auth/"
    async with aiohttp.ClientSession() as session:
        auth = Auth(session, key, secret, permission="delete")
        url, frob = await auth.authenticate_desktop()
        try:
            await auth.get_token(frob)
            check(False, "nobody approved yet")
        except APIResponseError as error:
            equal(error.code, 101)
        approve(url, base)
        equal((await auth.get_token(frob))["perms"], "delete")
        equal(await auth.check_token(), True)
        rtm = AioRTMClient(auth).rtm
        timeline = (await rtm.timelines.create()).timeline
        added = await rtm.tasks.add(timeline, "Feed the cat ^today 6pm !1", parse=True)
        series = added.task_list.taskseries[0]
        equal((added.transaction.undoable, series.name, series.task[0].priority), (0, "Feed the cat", "1"))
        path = {"list_id": added.task_list.id, "taskseries_id": series.id, "task_id": series.task[0].id}
        renamed = await rtm.tasks.set_name(timeline, **path, name="Feed both cats")
        equal((renamed.transaction.undoable, renamed.task_list.taskseries[0].name), (1, "Feed both cats"))
        listed = await rtm.tasks.get_list(list_id=added.task_list.id)
        equal([one.name for one in listed.tasks.task_list[0].taskseries], ["Feed both cats"])
        recent = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
        changed = await rtm.tasks.get_list(last_sync=recent)
        check(changed.tasks.task_list[0].current is not None, "each list says since when")
        done = await rtm.tasks.complete(timeline, **path)
        check(done.task_list.taskseries[0].task[0].completed is not None, "it says when")
        gone = await rtm.tasks.delete(timeline, **path)
        check(gone.task_list.taskseries[0].task[0].deleted is not None, "it says when")
        equal((await rtm.contacts.get_list()).contacts, [])
        try:
            await rtm.contacts.add(timeline, "nobody")
            check(False, "there is nobody")
        except APIResponseError as error:
            equal(error.code, 1020)
        auth.auth_token = "wrong"
        equal(await auth.check_token(), False)
        try:
            await rtm.timelines.create()
            check(False, "the token is wrong")
        except APIAuthError as error:
            equal(error.code, 98)


def rtmapi(base, key, secret):
    from rtmapi import Rtm, RtmException

    Rtm._base_url, Rtm._auth_url = f"{base}/services/rest/", f"{base}/services/auth/"
    client = Rtm(key, secret, "delete", api_version="2")
    url, frob = client.authenticate_desktop()
    equal(client.retrieve_token(frob), False)
    approve(url, base)
    equal(client.retrieve_token(frob), True)
    equal(client.token_valid(), True)
    timeline = client.rtm.timelines.create().timeline.value
    equal([one.name for one in client.rtm.lists.getList().lists][0], "Inbox")
    added = client.rtm.tasks.add(timeline=timeline, name="Mend <the> \"fence\" & gate ^tomorrow #diy", parse="1")
    series = list(added.list)[0]
    equal((series.name, [tag.value for tag in series.tags]), ('Mend <the> "fence" & gate', ["diy"]))
    path = {"list_id": added.list.id, "taskseries_id": series.id, "task_id": series.task.id}
    client.rtm.tasks.notes.add(timeline=timeline, **path, note_title="Bring", note_text="nails\nand wire")
    client.rtm.tasks.setRecurrence(timeline=timeline, **path, repeat="every 2 weeks")
    found = [one for one in client.rtm.tasks.getList(filter="tag:diy").tasks]
    series = list(found[0])[0]
    equal([(note.title, note.value) for note in series.notes], [("Bring", "nails\nand wire")])
    equal((series.rrule.every, series.rrule.value), ("1", "FREQ=WEEKLY;INTERVAL=2;WKST=MO"))
    client.rtm.tasks.delete(timeline=timeline, **path)
    changed = [one for one in client.rtm.tasks.getList(last_sync="2020-01-01T00:00:00Z").tasks]
    equal([one.id for part in changed for one in part.deleted if one.id == series.id], [series.id])
    try:
        client.rtm.tasks.complete(timeline=timeline, **path)
        check(False, "it is deleted")
    except RtmException as error:
        check("340" in str(error), str(error))
    equal(len(list(client.rtm.reflection.getMethods().methods)), 64)


if __name__ == "__main__":
    {"rtmilk": rtmilk, "aiortm": aiortm, "rtmapi": rtmapi}[sys.argv[1]](*sys.argv[2:])
    print(f"ok {CHECKED} checks")
