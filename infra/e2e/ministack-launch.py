"""MiniStack with the WebSocket door that API Gateway has.

MiniStack 1.5.33 is lenient where API Gateway is strict, and its functions take turns where Lambda's run side by side.
A program that works there could fail in the cloud, and one that works in the cloud could not be deployed there at
all. Each `mend_…` below replaces one piece of it. They reach into its internals, so the version is fixed; a piece
that is not where it was is an error at the start, and never a mend that silently does nothing.
"""

import contextvars
import importlib.metadata
import json
import string
import sys

VERSION = "1.5.33"
FRAME_BYTES_MAX = 32 * 1024
UNSUPPORTED_DATA = 1003
MESSAGE_TOO_BIG = 1009

if importlib.metadata.version("ministack") != VERSION:
    sys.exit(f"this launcher is for ministack=={VERSION}")

from ministack import app  # noqa: E402
from ministack.core import iam_actions, iam_evaluator, lambda_runtime, router  # noqa: E402
from ministack.services import apigateway, lambda_svc, secretsmanager  # noqa: E402
from ministack.services.cloudformation import provisioners  # noqa: E402


class Handshake:
    """What one connection has come to, between the two layers that are wrapped below."""

    def __init__(self):
        self.subprotocol = None
        self.refusal = None
        self.close_code = None


HANDSHAKE = contextvars.ContextVar("handshake")


def mend_route_responses():
    """CloudFormation creates `AWS::ApiGatewayV2::RouteResponse`, which MiniStack has, but not as a type."""

    def create(logical_id, properties, stack_name):
        api_id, route_id = properties["ApiId"], properties["RouteId"].split("/")[-1]
        given = {"routeResponseKey": properties["RouteResponseKey"]}
        answer = apigateway._create_route_response(api_id, route_id, given)
        if answer[0] >= 300:
            raise ValueError(answer[2])
        return json.loads(answer[2])["routeResponseId"], {}

    def delete(physical_id, properties):
        route_id = properties["RouteId"].split("/")[-1]
        responses = apigateway._route_responses.get(properties["ApiId"], {})
        responses.get(route_id, {}).pop(physical_id, None)

    handlers = provisioners._RESOURCE_HANDLERS
    handlers["AWS::ApiGatewayV2::RouteResponse"] = {"create": create, "delete": delete}


def mend_secret_references():
    """`Ref` of a secret is its ARN, which policies name; MiniStack has its name, which no policy would cover."""
    handlers = require(provisioners, "_RESOURCE_HANDLERS")["AWS::SecretsManager::Secret"]
    create, update, delete = (handlers[name] for name in ("create", "update", "delete"))

    def name_of(arn):
        return next(name for name, secret in secretsmanager._secrets.items() if secret["ARN"] == arn)

    def with_arn(made):
        name, attributes = made
        return secretsmanager._secrets[name]["ARN"], attributes

    handlers["create"] = lambda *given: with_arn(create(*given))
    handlers["update"] = lambda arn, *given, **more: with_arn(update(name_of(arn), *given, **more))
    handlers["delete"] = lambda arn, properties: delete(name_of(arn), properties)


def mend_generated_secrets():
    """`ExcludePunctuation` of a generated secret; without it one in a hundred begins as JSON would, and is read as that."""
    secret_string = require(provisioners, "_sm_secret_string")

    def without_punctuation(properties):
        given = properties.get("GenerateSecretString")
        if not given or not given.get("ExcludePunctuation"):
            return secret_string(properties)
        excluded = given.get("ExcludeCharacters", "") + string.punctuation
        return secret_string({**properties, "GenerateSecretString": {**given, "ExcludeCharacters": excluded}})

    provisioners._sm_secret_string = without_punctuation


def mend_batch_permissions():
    """`sqs:SendMessage` permits batches, too: IAM has no separate actions for the batches of SQS, but MiniStack has."""
    extract = require(iam_actions, "extract_iam_action")

    def extract_known(*given, **more):
        action = extract(*given, **more)
        is_batch = action is not None and action.startswith("sqs:") and action.endswith("Batch")
        return action.removesuffix("Batch") if is_batch else action

    iam_actions.extract_iam_action = extract_known


def mend_concurrency():
    """Each frame that is handled at the same time as another has an execution environment to itself.

    MiniStack's door leases an environment and gives it back before it uses it, so that frames of all connections wait
    for each other in one process.
    """

    class Leased:
        def __init__(self, *lease, **options):
            self.lease, self.options = lease, options

        def invoke(self, *arguments, **more):
            worker, reason = lambda_runtime.acquire_worker(*self.lease, **self.options)
            if worker is None:
                raise RuntimeError(f"no execution environment: {reason}")
            try:
                return worker.invoke(*arguments, **more)
            finally:
                lambda_runtime.release_worker(worker)

    require(lambda_runtime, "get_or_create_worker")
    lambda_runtime.get_or_create_worker = Leased


def mend_pace():
    """A handler that logs nothing is not waited for: MiniStack gives its first line 50 ms, at each frame."""
    drain = require(lambda_runtime.Worker, "_drain_stderr_bounded")

    def drain_at_once(worker, **waits):
        return drain(worker, **{**waits, "first_line_wait": 0.001, "idle_confirm": 0.001})

    lambda_runtime.Worker._drain_stderr_bounded = drain_at_once


def mend_answers():
    """What a function answers reaches the client as API Gateway passes it on.

    The subprotocol of `$connect` is echoed, and its status refuses the handshake; a body is sent only where the route
    has a response; a function that fails is the gateway's own JSON, and not what it threw.
    """
    invoke = require(apigateway, "_invoke_ws_lambda")

    async def invoke_as_the_gateway(*arguments, **more):
        route, connection_id, event_type, request_id = (arguments[at] for at in (3, 5, 6, 7))
        answer = await invoke(*arguments, **more)
        if event_type == "CONNECT":
            note_handshake(answer)
        if event_type == "MESSAGE" and isinstance(answer, dict):
            return frame_answer(answer, route, connection_id, request_id)
        return answer

    apigateway._invoke_ws_lambda = invoke_as_the_gateway


def note_handshake(answer):
    handshake = HANDSHAKE.get()
    answer = answer or {}
    headers = {name.lower(): value for name, value in (answer.get("headers") or {}).items()}
    handshake.subprotocol = headers.get("sec-websocket-protocol")
    status = int(answer.get("statusCode", 500))
    if not 200 <= status < 300:
        # The gateway answers 502 for a function that failed, and does not pass on the error.
        failed = status == 500 and set(answer) == {"statusCode", "body"}
        handshake.refusal = (502, "") if failed else (status, answer.get("body") or "")


def frame_answer(answer, route, connection_id, request_id):
    if answer.get("statusCode") == 500 and set(answer) == {"statusCode", "body"}:
        error = {"message": "Internal server error", "connectionId": connection_id, "requestId": request_id}
        return {"statusCode": 500, "body": json.dumps(error)}
    if not route.get("routeResponseSelectionExpression"):
        return {"statusCode": answer.get("statusCode", 200)}
    return answer


def mend_door():
    """Binary frames close with 1003 and those above 32 KB with 1009; a refused handshake has its status."""
    handle = require(apigateway, "handle_websocket")

    async def handle_strictly(scope, receive, send, *arguments, **more):
        handshake = Handshake()
        token = HANDSHAKE.set(handshake)
        try:
            return await handle(scope, receiving(receive, send, handshake), sending(scope, send, handshake), *arguments, **more)
        finally:
            HANDSHAKE.reset(token)

    apigateway.handle_websocket = handle_strictly


def receiving(receive, send, handshake):
    async def receive_strictly():
        message = await receive()
        if message.get("type") != "websocket.receive":
            return message
        handshake.close_code = fault_of(message)
        if handshake.close_code is None:
            return message
        await send({"type": "websocket.close", "code": handshake.close_code})
        return {"type": "websocket.disconnect", "code": handshake.close_code}

    return receive_strictly


def fault_of(message):
    text = message.get("text")
    if text is None:
        return UNSUPPORTED_DATA
    return MESSAGE_TOO_BIG if len(text.encode()) > FRAME_BYTES_MAX else None


def sending(scope, send, handshake):
    async def send_strictly(message):
        if message["type"] == "websocket.accept" and handshake.subprotocol is not None:
            return await send({**message, "subprotocol": handshake.subprotocol})
        if message["type"] != "websocket.close":
            return await send(message)
        if handshake.close_code is not None:
            return None
        if handshake.refusal is not None and "websocket.http.response" in (scope.get("extensions") or {}):
            return await refuse(send, *handshake.refusal)
        return await send(message)

    return send_strictly


async def refuse(send, status, body):
    await send({"type": "websocket.http.response.start", "status": status, "headers": []})
    await send({"type": "websocket.http.response.body", "body": str(body).encode()})


def mend_signed_callers():
    """A function behind a URL with `AWS_IAM` hears who has signed; MiniStack checks the signature, and does not say whose."""
    build = require(lambda_svc, "_build_function_url_event")
    arn_of = require(iam_evaluator, "request_caller_arn")

    def build_with_caller(url_id, account_id, region, method, path, headers, body, query_params, anonymous=False, **more):
        event = build(url_id, account_id, region, method, path, headers, body, query_params, anonymous=anonymous, **more)
        if not anonymous:
            event["requestContext"]["authorizer"] = {"iam": {"userArn": arn_of(headers, query_params)}}
        return event

    lambda_svc._build_function_url_event = build_with_caller


def mend_signed_region():
    """The URL of a function takes signatures for its own Region only; MiniStack takes those for any."""
    handle = require(lambda_svc, "handle_function_url_request")
    region_of = require(router, "extract_region")

    async def handle_in_its_region(url_id, method, path, headers, body, query_params, resolved=None, **more):
        region, auth_type = (resolved[1], resolved[4].get("AuthType")) if resolved else (None, None)
        if auth_type == "AWS_IAM" and region_of(headers, query_params) != region:
            message = {"Message": f"Credential should be scoped to a valid region, not '{region_of(headers, query_params)}'."}
            return 403, {"Content-Type": "application/json"}, json.dumps(message).encode()
        return await handle(url_id, method, path, headers, body, query_params, resolved=resolved, **more)

    lambda_svc.handle_function_url_request = handle_in_its_region


def mend_connection_times():
    """Each event of a connection says when that began, from which its minutes are counted; MiniStack says the event's own time."""
    context_of = require(apigateway, "_ws_request_context")
    began = {}

    def context_with_beginning(*args, **kwargs):
        context = context_of(*args, **kwargs)
        connection_id = context["connectionId"]
        context["connectedAt"] = began.setdefault(connection_id, context["connectedAt"])
        if context["eventType"] == "DISCONNECT":
            del began[connection_id]
        return context

    apigateway._ws_request_context = context_with_beginning


def mend_transport():
    """The loopback counts as TLS: queues and topics refuse everything else, and a certificate would prove nothing here."""
    pin = require(app, "pin_request_origin")
    app.pin_request_origin = lambda source_ip, is_secure: pin(source_ip, True)


def require(holder, name):
    piece = getattr(holder, name, None)
    if piece is None:
        sys.exit(f"ministack=={VERSION} has no {holder.__name__}.{name} any more")
    return piece


mend_route_responses()
mend_secret_references()
mend_generated_secrets()
mend_batch_permissions()
mend_concurrency()
mend_pace()
mend_answers()
mend_door()
mend_signed_callers()
mend_signed_region()
mend_connection_times()
mend_transport()

app.main()
