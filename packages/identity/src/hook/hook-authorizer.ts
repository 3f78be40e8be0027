import type { Authorizer, Awaitable, Clock, Identity, PublishTerms, SubscribeTerms } from '@apus/broker';
import { objectOf } from './answer-body.ts';
import { AnswerCache } from './answer-cache.ts';
import type { HookAnswer, HookClient } from './hook-client.ts';
import type { PlaceholderValues } from './placeholders.ts';
import type { RequestTemplate } from './request-template.ts';

/** Names that the request of an authorisation may use. */
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

/** As long as EMQX keeps an answer: a minute after a right was taken away it is gone. */
const CACHE_MS = 60_000;

/** As EMQX: the topics of most clients. */
const CACHE_ENTRIES_PER_CLIENT_MAX = 32;

/** Some 300 bytes each: 15 MB. */
const CACHE_ENTRIES_MAX = 50_000;

/** The verdict of the identity's own rules; undefined where none applies. `rulesAuthorizer` answers so. */
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

interface Question {
  /** The client whose answers are cached together. */
  readonly client: string;
  /** The same text for the same question of a client. */
  readonly text: string;
  readonly values: PlaceholderValues;
  readonly topicFilter?: string;
}

export interface HookAuthorizerOptions {
  readonly client: HookClient;
  readonly request: RequestTemplate;
  /** Asked first, as EMQX asks the ACL of an authentication's answer before its authorizers. */
  readonly ownRules: OwnRules;
  readonly clock: Clock;
  /** How long an answer is good for. @default a minute */
  readonly cacheMs?: number;
}

/**
 * Asks a server of the operator's what a client may do, with the requests and answers of EMQX's HTTP authorization, if
 * the identity's own rules do not decide. Denies when the server does not answer, and when it answers `ignore`.
 */
export class HookAuthorizer implements Authorizer {
  readonly asksForHost = true;
  readonly #options: HookAuthorizerOptions;
  readonly #cache: AnswerCache;
  /** Questions under way, so that one that several connections ask at once is asked once. */
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
    return this.#askOnce({ client, text, values });
  }

  /**
   * EMQX asks nothing when a message leaves a queue. So the topic of one is only asked about where no filter is known
   * any more that the client was allowed and that matches it.
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
    return this.#askOnce({ client, text, values, topicFilter });
  }

  #askOnce(question: Question): Promise<boolean> {
    const key = `${question.client} ${question.text}`;
    const underWay = this.#asked.get(key);
    if (underWay !== undefined) return underWay;
    const asking = this.#ask(question).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asking);
    return asking;
  }

  async #ask({ client, text, values, topicFilter }: Question): Promise<boolean> {
    const request = this.#options.request.render(values);
    const answer = request && (await this.#options.client.ask(request));
    if (answer === undefined) return false; // [SEC-HOOK-1]
    const isAllowed = allows(answer);
    // A server that fails is asked again.
    if (answer.status < 500) this.#cache.set(client, text, isAllowed, topicFilter);
    return isAllowed;
  }
}

/** As JSON, which quotes: a name with a separator in it is not taken for another's. */
function clientOf({ tenant, name, host = '' }: Identity, clientId: string): string {
  return JSON.stringify([tenant, name, clientId, host]);
}

function valuesOf({ name, host = '' }: Identity, clientId: string): PlaceholderValues {
  return { clientid: clientId, username: name, peerhost: host, proto_name: 'MQTT' };
}

/** 204 allows, and so does `allow` with 200. Any other answer leaves the decision to the default, which denies. */
function allows(answer: HookAnswer): boolean {
  return answer.status === 204 || objectOf(answer)?.result === 'allow';
}
