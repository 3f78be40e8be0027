import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from './connection.ts';
import { closeConnection, cutConnection } from './connection-life.ts';
import type { Principals } from './credentials.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';
import type { ManagementCall } from './faults.ts';
import { type Gateway, schedule } from './gateway.ts';
import { isGatewayId, uuid } from './ids.ts';
import { type ManagementBody, readBody } from './management-body.ts';
import * as errors from './management-error.ts';
import { ManagementError } from './management-error.ts';
import { verifySignature } from './signature-v4.ts';

interface Success {
  readonly status: 200 | 204;
  readonly json?: unknown;
}

type Answer = Success | ManagementError;

/** The @connections API: POST sends to a connection, GET describes it, DELETE ends it. */
export class ManagementApi {
  readonly #gateway: Gateway;
  readonly #principals: Principals;
  #held = 0;

  constructor(gateway: Gateway, principals: Principals) {
    this.#gateway = gateway;
    this.#principals = principals;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { counters, settings } = this.#gateway;
    const body = await readBody(request, settings.limits.messageBytesMax);
    const caller = this.#verify(request, body);
    if (caller instanceof ManagementError) {
      counters.managementCall(request.method ?? '', caller.status);
      return this.#respond(response, caller);
    }
    const { environment } = caller;
    if (!(await this.#untilRunning(environment, response))) return;
    const end = this.#gateway.activity.begin();
    const answer = await this.#perform(request, body, environment);
    end();
    // An environment that died, or froze meanwhile, does not read its answer now.
    if (answer === undefined || !(await this.#untilRunning(environment, response))) return;
    counters.managementCall(request.method ?? '', answer.status);
    this.#respond(response, answer);
  }

  #verify(
    request: IncomingMessage,
    body: ManagementBody,
  ): { environment: ExecutionEnvironment | undefined } | ManagementError {
    const { limits, region, signatureNow } = this.#gateway.settings;
    const principal = verifySignature(
      {
        method: request.method ?? '',
        target: request.url ?? '',
        headers: request.headers,
        bodyHash: body.hash,
      },
      { principals: this.#principals, region, nowMs: signatureNow(), skewMs: limits.signatureSkewMs },
    );
    return principal instanceof ManagementError ? principal : { environment: principal.environment };
  }

  /**
   * Holds what a frozen environment has sent until its next invocation: in the cloud it would not have been sent
   * before. False when too much is held already, and the socket was cut.
   */
  async #untilRunning(
    environment: ExecutionEnvironment | undefined,
    response: ServerResponse,
  ): Promise<boolean> {
    if (environment === undefined || environment.running) return true;
    const { counters, settings } = this.#gateway;
    counters.event(environment.dead ? 'requestsOfDeadEnvironments' : 'requestsWhileFrozen');
    if (this.#held >= settings.limits.heldRequestsMax) {
      counters.event('heldRequestsMax');
      response.destroy();
      return false;
    }
    this.#held += 1;
    await environment.untilRunning();
    this.#held -= 1;
    return true;
  }

  /** `undefined`: the caller died. */
  async #perform(
    request: IncomingMessage,
    body: ManagementBody,
    environment: ExecutionEnvironment | undefined,
  ): Promise<Answer | undefined> {
    const { accountThrottle, dice, settings } = this.#gateway;
    const { faults, stage } = settings;
    const connectionId = connectionIdOf(request.url ?? '', stage);
    if (connectionId === undefined) return errors.forbidden;
    const call = describe(request.method ?? '', connectionId, body, environment);
    if (call === undefined) return errors.notAllowed;
    if (!accountThrottle.take()) return errors.throttled;
    if (environment && dice.strikes('killBeforeCall', faults.killBeforeCall, call)) {
      environment.kill();
      return undefined;
    }
    const answer = await this.#act(call, body);
    if (environment && dice.strikes('killAfterCall', faults.killAfterCall, call)) {
      environment.kill();
      return undefined;
    }
    return answer;
  }

  async #act(call: ManagementCall, body: ManagementBody): Promise<Answer> {
    if (!isGatewayId(call.connectionId)) {
      return new ManagementError(400, 'BadRequestException', `Invalid connectionId: ${call.connectionId}`);
    }
    if (call.method === 'POST' && body.bytes === undefined) return errors.tooLarge;
    // Calls that are made at the same time have no order; one that was answered before another was made has.
    await new Promise<void>((resolve) => schedule(this.#gateway, 0, resolve));
    const connection = this.#gateway.connections.get(call.connectionId);
    if (connection === undefined || !connection.reachable) return errors.gone;
    switch (call.method) {
      case 'POST':
        return this.#post(call, connection);
      case 'GET':
        return { status: 200, json: describeConnection(connection) };
      case 'DELETE':
        closeConnection(this.#gateway, connection, 1000, '');
        return { status: 204 };
    }
  }

  #post(call: ManagementCall, connection: Connection): Answer {
    const { dice, settings } = this.#gateway;
    const { faults, limits } = settings;
    if (dice.strikes('postGone', faults.postGone, call)) return errors.gone;
    if (dice.strikes('postThrottled', faults.postThrottled, call)) return errors.throttled;
    if (dice.strikes('postFails', faults.postFails, call)) return errors.internal;
    if (dice.strikes('cut', faults.cut, { connectionId: connection.id, at: 'post' })) {
      cutConnection(connection);
      return errors.gone;
    }
    // A slow consumer: the same status as the throttle, and no way to tell them apart.
    if (connection.bufferedBytes > limits.clientBufferBytesMax) return errors.throttled;
    const text = call.body ?? '';
    if (dice.strikes('postOvertaken', faults.postOvertaken, call)) {
      schedule(this.#gateway, 0, () => this.#send(connection, text));
      return { status: 200 };
    }
    this.#send(connection, text);
    return dice.strikes('postFailsAfterwards', faults.postFailsAfterwards, call)
      ? errors.internal
      : { status: 200 };
  }

  #send(connection: Connection, text: string): void {
    const { counters, settings } = this.#gateway;
    counters.message('posts', Buffer.byteLength(text));
    connection.lastActiveAtMs = settings.clock.now();
    connection.send(text, settings.splitLargeMessages);
  }

  #respond(response: ServerResponse, answer: Answer): void {
    const requestId = uuid(this.#gateway.random);
    response.statusCode = answer.status;
    response.setHeader('x-amzn-RequestId', requestId);
    if (answer instanceof ManagementError) {
      response.setHeader('x-amzn-ErrorType', answer.type);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ message: answer.message }));
    } else if (answer.json !== undefined) {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answer.json));
    } else {
      response.end();
    }
  }
}

/** From `/stage/@connections/id`; `undefined` for every other path. */
function connectionIdOf(target: string, stage: string): string | undefined {
  const [path = ''] = target.split('?', 1);
  const [, first, second, id, ...rest] = path.split('/');
  if (first !== stage || rest.length > 0 || id === undefined) return undefined;
  return decode(second) === '@connections' ? decode(id) : undefined;
}

function decode(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function describe(
  method: string,
  connectionId: string,
  body: ManagementBody,
  environment: ExecutionEnvironment | undefined,
): ManagementCall | undefined {
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return undefined;
  return {
    method,
    connectionId,
    ...(environment && { environmentId: environment.id }),
    // What is not UTF-8 becomes U+FFFD: a WebSocket API carries text only.
    ...(method === 'POST' && body.bytes && { body: body.bytes.toString('utf8') }),
  };
}

function describeConnection(connection: Connection): Record<string, unknown> {
  return {
    connectedAt: new Date(connection.connectedAtMs).toISOString(),
    identity: connection.identity,
    lastActiveAt: new Date(connection.lastActiveAtMs).toISOString(),
  };
}
