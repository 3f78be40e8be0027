import {
  type Authorizer,
  type Awaitable,
  type Clock,
  type Identity,
  type PublishTerms,
  quotaHolderKey,
  quotaHolderOf,
  type SubscribeTerms,
  Unavailable,
} from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { objectOf } from './answer-body.ts';
import { AnswerCache } from './answer-cache.ts';
import type { HookAnswer, HookClient } from './hook-client.ts';
import type { PlaceholderValues } from './placeholders.ts';
import type { RequestTemplate } from './request-template.ts';

/** Placeholders of an authorisation's request. */
export const AUTHORIZATION_PLACEHOLDERS = [
  'clientid',
  'username',
  'action',
  'topic',
  'qos',
  'retain',
  'proto_name',
  'mountpoint',
  'peerhost',
  'cert_subject',
  'cert_common_name',
] as const;

/** As long as EMQX keeps an answer: one minute after a right was revoked it is gone. */
const CACHE_MS = 60_000;

/** The same as in EMQX: enough for the topics of most clients. */
const CACHE_ENTRIES_PER_CLIENT_MAX = 32;

/** Some 300 bytes each: 15 MB. */
const CACHE_ENTRIES_MAX = 50_000;

/** The decision of the identity's own rules; undefined if none applies. `rulesAuthorizer` returns it. */
export interface OwnRules {
  decidePublish(
    identity: Identity,
    clientId: string,
    topicName: string,
    terms: PublishTerms,
  ): boolean | undefined;
  decideSubscribe(
    identity: Identity,
    clientId: string,
    topicFilter: string,
    terms: SubscribeTerms,
  ): boolean | undefined;
}

/** More requests of this identity wait for the hook than may: the client is told so, and may try again later. */
class HookBusy extends Unavailable {
  override readonly name = 'HookBusy';
  readonly reasonCode = ReasonCode.QuotaExceeded;
}

interface Question {
  /** The identity that it is counted for. */
  readonly holder: string;
  /** The client whose answers are cached together. */
  readonly client: string;
  /** The cache key of the question of a client. */
  readonly text: string;
  readonly values: PlaceholderValues;
  readonly bytes?: number | undefined;
  readonly topicFilter?: string;
}

export interface HookAuthorizerOptions {
  readonly client: HookClient;
  readonly request: RequestTemplate;
  /** Asked first, as EMQX asks the ACL in an authentication's answer before its authorizers. */
  readonly ownRules: OwnRules;
  readonly clock: Clock;
  /**
   * How long an answer is valid.
   * @default a minute
   */
  readonly cacheMs?: number;
}

/**
 * Asks the operator's server about the actions of a client, with the requests and answers of EMQX's HTTP authorization,
 * if the identity's own rules do not decide. Denies if the server does not answer, or answers `ignore`; throws
 * `Unavailable` if too many questions of the identity wait.
 */
export class HookAuthorizer implements Authorizer {
  readonly asksForHost = true;
  readonly #options: HookAuthorizerOptions;
  readonly #cache: AnswerCache;
  /** Pending questions: if several connections ask the same at once, the server is asked once. */
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(options: HookAuthorizerOptions) {
    this.#options = options;
    this.#cache = new AnswerCache({
      clock: options.clock,
      ttlMs: options.cacheMs ?? CACHE_MS,
      entriesPerClientMax: CACHE_ENTRIES_PER_CLIENT_MAX,
      entriesMax: CACHE_ENTRIES_MAX,
    });
  }

  mayPublish(
    identity: Identity,
    clientId: string,
    topicName: string,
    terms: PublishTerms,
  ): Awaitable<boolean> {
    const own = this.#options.ownRules.decidePublish(identity, clientId, topicName, terms);
    if (own !== undefined) return own;
    const qos = String(terms.qos);
    const retain = String(terms.retain);
    const client = clientOf(identity, clientId);
    const text = `publish ${qos} ${retain} ${topicName}`;
    const known = this.#cache.get(client, text);
    if (known !== undefined) return known;
    const values = { ...valuesOf(identity, clientId), action: 'publish', topic: topicName, qos, retain };
    const bytes = terms.payload?.length;
    return this.#askOnce({ client, text, values, bytes, holder: holderOf(identity, clientId) });
  }

  /**
   * EMQX asks nothing when a message leaves a queue. So the hook is asked about its topic only if no cached filter is
   * known that the client was allowed and that matches it.
   */
  maySubscribe(
    identity: Identity,
    clientId: string,
    topicFilter: string,
    terms: SubscribeTerms,
  ): Awaitable<boolean> {
    const own = this.#options.ownRules.decideSubscribe(identity, clientId, topicFilter, terms);
    if (own !== undefined) return own;
    const isDelivery = terms.qos === undefined;
    const qos = String(terms.qos ?? 0);
    const client = clientOf(identity, clientId);
    const text = `subscribe ${qos} ${topicFilter}`;
    const known = this.#cache.get(client, text);
    if (known !== undefined) return known;
    if (isDelivery && this.#cache.hasFilterFor(client, topicFilter)) return true;
    const values = {
      ...valuesOf(identity, clientId),
      action: 'subscribe',
      topic: topicFilter,
      qos,
      retain: 'false',
    };
    const asked = this.#askOnce({ client, text, values, topicFilter, holder: holderOf(identity, clientId) });
    // A message on its way to the client has no request that could be refused.
    return isDelivery ? asked.catch(falseIfBusy) : asked;
  }

  #askOnce(question: Question): Promise<boolean> {
    const key = `${question.client} ${question.text}`;
    const underWay = this.#asked.get(key);
    if (underWay !== undefined) return underWay;
    const asking = this.#ask(question).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asking);
    return asking;
  }

  async #ask({ client, text, values, topicFilter, holder, bytes = 0 }: Question): Promise<boolean> {
    const request = this.#options.request.render(values);
    const answer = request && (await this.#options.client.ask({ request, holder, bytes }));
    if (answer === 'busy') throw new HookBusy('too many requests of this identity wait for the hook');
    if (answer === undefined) return false; // [SEC-HOOK-1]
    const isAllowed = allows(answer);
    // A failed answer is not cached: the server is asked again.
    if (answer.status < 500) this.#cache.set(client, text, isAllowed, topicFilter);
    return isAllowed;
  }
}

/** JSON quotes each value, so a name with a separator in it equals no other key. */
function clientOf({ tenant, name, host = '' }: Identity, clientId: string): string {
  return JSON.stringify([tenant, name, clientId, host]);
}

function holderOf(identity: Identity, clientId: string): string {
  return quotaHolderKey(quotaHolderOf(identity, clientId));
}

function falseIfBusy(error: unknown): false {
  if (error instanceof HookBusy) return false;
  throw error;
}

function valuesOf({ name, host = '' }: Identity, clientId: string): PlaceholderValues {
  return { clientid: clientId, username: name, peerhost: host, proto_name: 'MQTT' };
}

/** 204 allows, and so does `allow` with 200. Any other answer leaves the decision to the default, which denies. */
function allows(answer: HookAnswer): boolean {
  return answer.status === 204 || objectOf(answer)?.result === 'allow';
}
