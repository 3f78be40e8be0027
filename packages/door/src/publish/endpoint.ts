import { type Authorizer, type Identity, mayPublish, type PublishRequest, parseJson } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import { type HttpAnswer, type HttpRequest, problem } from '../http.ts';
import type { Authenticate } from './callers.ts';
import { BULK_MESSAGES_MAX, REQUEST_BYTES_MAX } from './limits.ts';
import { answerMany, answerOne, type Published, type PublishOutcome } from './outcomes.ts';
import { type MessageDraft, type MessageLimits, readMessage } from './read-message.ts';

export const PUBLISH_PATH = '/api/v5/publish';
export const BULK_PATH = `${PUBLISH_PATH}/bulk`;

/**
 * The header with the server's clock in answers. A client repeats it in its requests, so its next message is newer
 * than the last, whichever process takes it, as in the frames of clients (docs/text-frames.md).
 */
export const CLOCK_HEADER = 'apus-clock';

const CLOCK = /^[0-9a-z]{13}$/;

export interface PublishEndpointOptions {
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly limits: MessageLimits;
  /**
   * Publishes in the given order, and returns when everything that was accepted has left.
   *
   * @param seen the clock of the last answer that the caller has seen
   */
  readonly publish: (requests: readonly PublishRequest[], seen: string | undefined) => Promise<Published>;
}

/**
 * Publishing over HTTP, shaped like EMQX's API: `POST /api/v5/publish` with a message, `…/bulk` with a list of them.
 *
 *     200 {"id": "…"}                                                  it has left for every subscriber
 *     202 {"reason_code": 16, "message": "no_matching_subscribers"}    taken, and retained where asked
 *     400, 403, 413, 429, 503 {"reason_code": …, "message": "…"}       not taken; 429 and 503 with Retry-After
 *
 * A bulk is looked at as a whole before anything of it is published, and is answered with a list in its order.
 */
export function createPublishEndpoint(
  options: PublishEndpointOptions,
): (request: HttpRequest) => Promise<HttpAnswer> {
  return async (request) => {
    const caller = wrongRequest(request) ?? (await options.authenticate(request));
    if ('status' in caller) return caller;
    const tooLarge = wrongSize(request);
    if (tooLarge !== undefined) return tooLarge;
    const value = parseBody(request);
    if (value instanceof Unreadable) return problem('BAD_REQUEST', value.reason);
    const requests = await readRequests(options, caller, value, request.path === BULK_PATH);
    if ('status' in requests) return requests;
    const header = request.headers[CLOCK_HEADER] ?? '';
    const { outcomes, clock } = await options.publish(requests, CLOCK.test(header) ? header : undefined);
    const answer = request.path === BULK_PATH ? answerMany(outcomes) : answerFirst(outcomes);
    return { ...answer, headers: { ...answer.headers, [CLOCK_HEADER]: clock } };
  };
}

/** Checks that need neither the caller nor the body. */
function wrongRequest({ method, path, headers }: HttpRequest): HttpAnswer | undefined {
  if (path !== PUBLISH_PATH && path !== BULK_PATH)
    return problem('NOT_FOUND', `There is nothing at ${path}: it is ${PUBLISH_PATH} or ${BULK_PATH}.`);
  if (method !== 'POST')
    return problem('METHOD_NOT_ALLOWED', 'Messages are sent with POST.', { allow: 'POST' });
  // Web pages of another origin cannot send this type without a preflight request, which gets no permission.
  if (!/^application\/json *(;|$)/i.test(headers['content-type'] ?? ''))
    return problem('UNSUPPORTED_MEDIA_TYPE', 'The body is JSON: Content-Type: application/json.');
  return undefined;
}

/** Checked when the caller is known, since reading the body may cost time. */
function wrongSize({ body }: HttpRequest): HttpAnswer | undefined {
  if (body.length <= REQUEST_BYTES_MAX) return undefined;
  const message = `The body has ${body.length} bytes; at most ${REQUEST_BYTES_MAX} are taken.`;
  return problem('PAYLOAD_TOO_LARGE', message);
}

class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

function parseBody({ body }: HttpRequest): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    return new Unreadable(`The body is not JSON in UTF-8: ${(error as Error).message}.`);
  }
}

function answerFirst([outcome]: readonly PublishOutcome[]): HttpAnswer {
  if (outcome === undefined) throw new Error('a message was published and nothing is known of it');
  return answerOne(outcome);
}

async function readRequests(
  options: PublishEndpointOptions,
  caller: Identity,
  value: unknown,
  isBulk: boolean,
): Promise<readonly PublishRequest[] | HttpAnswer> {
  if (!isBulk) {
    const request = await readRequest(options, caller, value);
    return request instanceof Violation ? answerOne(request) : [request];
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > BULK_MESSAGES_MAX) {
    const size = Array.isArray(value) ? `${value.length}` : 'none';
    return problem('BAD_REQUEST', `A bulk is a list of 1 to ${BULK_MESSAGES_MAX} messages, and has ${size}.`);
  }
  const requests: PublishRequest[] = [];
  for (const [index, each] of value.entries()) {
    const request = await readRequest(options, caller, each);
    if (request instanceof Violation) {
      const { reasonCode, reason } = request;
      return answerOne(new Violation(reasonCode, `Message ${index} of the list: ${reason}`));
    }
    requests.push(request);
  }
  return requests;
}

async function readRequest(
  { limits, authorizer }: PublishEndpointOptions,
  caller: Identity,
  value: unknown,
): Promise<PublishRequest | Violation> {
  const draft: MessageDraft | Violation = readMessage(value, limits);
  if (draft instanceof Violation) return draft;
  if (await mayPublish({ ports: { authorizer } }, caller, '', draft.topic, draft))
    return { ...draft, tenant: caller.tenant, publisher: { identity: caller, clientId: '' } };
  const reason = `publishing to ${JSON.stringify(draft.topic)} is not allowed`;
  return new Violation(ReasonCode.NotAuthorized, reason);
}
