import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ManagementCall } from '../faults.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { hasValidHead } from '../gateway/request-head.ts';
import { uuid } from '../ids.ts';
import type { Principals } from '../lambda/credentials.ts';
import type { ExecutionEnvironment } from '../lambda/execution-environment.ts';
import { verifySignature } from '../signature/signature-v4.ts';
import { act } from './actions.ts';
import { type Answer, respond } from './answer.ts';
import { type ManagementBody, readBody } from './body.ts';
import { readCall } from './call.ts';
import { badRequest, ManagementError, throttled } from './error.ts';

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
    if (!hasValidHead(request)) return this.#respond(request, response, badRequest);
    const body = await readBody(request, this.#gateway.settings.limits);
    const caller = this.#verify(request, body);
    if (caller instanceof ManagementError) {
      this.#respond(request, response, caller);
      return;
    }
    const { environment } = caller;
    this.#gateway.settings.doorkeeper?.know(request.socket);
    if (!(await this.#untilRunning(environment, response))) return;
    const end = this.#gateway.activity.begin();
    const { method = '', url: target = '' } = request;
    const answer = await this.#perform({ method, target }, body, environment);
    end();
    // An environment that has died or frozen meanwhile does not read its answer now.
    if (answer === undefined || !(await this.#untilRunning(environment, response))) return;
    this.#respond(request, response, answer);
  }

  /**
   * The same for a caller in this process: without a socket, and without a signature. An environment that is dead, or
   * that dies on the way, is never answered.
   */
  async answer(
    request: { readonly method: string; readonly target: string; readonly body: Buffer },
    environment: ExecutionEnvironment | undefined,
  ): Promise<Answer> {
    await this.#untilRunning(environment);
    const end = this.#gateway.activity.begin();
    const isTooLarge = request.body.length > this.#gateway.settings.limits.messageBytesMax;
    const body = { bytes: isTooLarge ? undefined : request.body, hash: '' };
    const answer = await this.#perform(request, body, environment);
    end();
    await this.#untilRunning(environment);
    if (answer === undefined) throw new Error('expected an answer: the caller is running');
    this.#gateway.counters.managementCall(request.method, answer.status);
    return answer;
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
   * Holds the requests of a frozen environment until its next invocation: in the cloud they would not be sent earlier.
   * False if too many are held already, and the socket was cut.
   */
  async #untilRunning(
    environment: ExecutionEnvironment | undefined,
    response?: ServerResponse,
  ): Promise<boolean> {
    if (environment === undefined || environment.running) return true;
    const { counters, settings } = this.#gateway;
    counters.event(environment.dead ? 'requestsOfDeadEnvironments' : 'requestsWhileFrozen');
    if (response !== undefined && this.#held >= settings.limits.heldRequestsMax) {
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
    request: { readonly method: string; readonly target: string },
    body: ManagementBody,
    environment: ExecutionEnvironment | undefined,
  ): Promise<Answer | undefined> {
    const { accountThrottle, settings } = this.#gateway;
    const call = readCall(request, settings.stage, body, environment);
    if (call instanceof ManagementError) return call;
    if (!accountThrottle.take()) return throttled;
    if (this.#kills('killBeforeCall', environment, call)) return undefined;
    const answer = await act(this.#gateway, call);
    return this.#kills('killAfterCall', environment, call) ? undefined : answer;
  }

  #kills(
    fault: 'killBeforeCall' | 'killAfterCall',
    environment: ExecutionEnvironment | undefined,
    call: ManagementCall,
  ): boolean {
    const { dice, settings } = this.#gateway;
    if (environment === undefined || !dice.strikes(fault, settings.faults[fault], call)) return false;
    environment.kill();
    return true;
  }

  #respond(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
    this.#gateway.counters.managementCall(request.method ?? '', answer.status);
    respond(response, answer, uuid(this.#gateway.random));
  }
}
