import type { Delivery, Message } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { BridgesContext, DeadLetters, LocalHandler, LocalLink } from '@apus/node';
import { StateKeeper } from '../bridge.ts';
import { KeptSession } from '../kept-session.ts';
import type { RuleConfiguration } from './configuration/rules.ts';
import { DEAD_LETTER_BYTES_MAX, DEAD_LETTERS_MAX, RuleDeadLetters } from './dead-letters.ts';
import { Lane } from './lane.ts';
import { leavingOf } from './leaving.ts';
import type { RuleBacklog } from './rule-backlog.ts';
import type { Failure, Target } from './target.ts';

/** Most messages at QoS 1 and 2 that are under way; further ones wait in the session's queue. */
const WINDOW = 100;
/** Most messages that are under way, QoS 0 included. Above it QoS 0 messages are dropped. */
const UNDER_WAY_MAX = 500;
/**
 * How long the queue of a rule outlives the process. The broker's own limit, `sessionExpirySecondsMax`, may be lower.
 */
const EXPIRY_SECONDS = 7 * 24 * 60 * 60;
/** How long `stop` waits for pending calls. */
const STOP_MS_MAX = 3_000;

/**
 * A rule: a client of the broker whose session holds the waiting messages. The rule acknowledges a message when the
 * target has it, when it is a dead letter, or when it is not for the target.
 */
export class Rule implements LocalHandler {
  readonly name: string;
  readonly tenant: string;
  readonly deadLetters: DeadLetters;
  readonly #configuration: RuleConfiguration;
  readonly #context: BridgesContext;
  readonly #backlog: Pick<RuleBacklog, 'left' | 'delivered' | 'countsOf'>;
  readonly #target: Target;
  readonly #dead: RuleDeadLetters;
  readonly #lanes: readonly Lane[];
  readonly #session: KeptSession;
  readonly #state: StateKeeper;
  readonly #counts = {
    ...{ matched: 0, filtered: 0, condition_failed: 0, looped: 0 },
    ...{ sent: 0, failed_attempts: 0, dead: 0 },
  };
  #underWay = 0;
  #isHeld = false;

  constructor(
    configuration: RuleConfiguration,
    target: Target,
    context: BridgesContext,
    backlog: Pick<RuleBacklog, 'left' | 'delivered' | 'countsOf'>,
  ) {
    const { name, tenant, parallel, retry } = configuration;
    const { clock, log } = context;
    this.name = name;
    this.tenant = tenant;
    this.#configuration = configuration;
    this.#context = context;
    this.#backlog = backlog;
    this.#target = target;
    const limits = { messagesMax: DEAD_LETTERS_MAX, bytesMax: DEAD_LETTER_BYTES_MAX };
    const kept = context.kept(`dead/${tenant}/${name}`, limits);
    this.#dead = new RuleDeadLetters(kept, target, clock, (count) => this.#sent(count));
    this.deadLetters = this.#dead;
    this.#state = new StateKeeper(
      () => clock.now(),
      (state, error) =>
        log[state === 'disconnected' ? 'warn' : 'info'](`rule-${state}`, { rule: name, error }),
    );
    this.#session = this.#keptSession();
    const handlers = {
      sent: (count: number) => this.#sent(count),
      failed: (failure: Failure) => this.#failed(failure),
      dead: (message: Message, error: string, attempts: number) => this.#bury(message, error, attempts),
    };
    this.#lanes = Array.from({ length: parallel }, () => new Lane(target, retry, handlers, clock));
  }

  #keptSession(): KeptSession {
    const { name, tenant, filter } = this.#configuration;
    const subscription = { topicFilter: filter, qos: 1, noLocal: false, retainAsPublished: true } as const;
    return new KeptSession(this.#context, {
      session: {
        ...{ tenant, kind: 'rule', name, handler: this },
        expirySeconds: EXPIRY_SECONDS,
        receiveMaximum: WINDOW,
      },
      subscriptions: [{ ...subscription, retainHandling: 2 }],
      refused: (_, reasonCode) =>
        this.#context.log.error('rule-subscription-refused', { rule: name, filter, reasonCode }),
      failed: (error) => this.#state.set(this.#state.state, error),
    });
  }

  async start(): Promise<void> {
    await this.#session.open();
    this.#state.set('connected');
  }

  status(): object {
    const { filter, when } = this.#configuration;
    const { givenBack, givenUp } = this.#backlog.countsOf(this.tenant, filter);
    return {
      ...{ name: this.name, filter, when: when?.text ?? null },
      ...{ type: this.#target.type, remote: this.#target.remote },
      ...this.#state.toJSON(),
      ...this.#counts,
      waiting: this.#session.waitingMessages,
      inflight: this.#underWay,
      given_back: givenBack,
      given_up: givenUp,
      dead_letters: this.#dead.count,
    };
  }

  async stop(): Promise<void> {
    this.#session.stop();
    const lanes = Promise.all(this.#lanes.map((lane) => lane.stop()));
    await Promise.race([lanes, this.#after(STOP_MS_MAX)]);
    await this.#target.stop();
    await this.#session.leave();
    this.#state.set('stopped');
  }

  /** Handles a message of the broker. */

  isReady(): boolean {
    this.#isHeld = this.#underWay >= UNDER_WAY_MAX;
    return !this.#isHeld;
  }

  deliver(message: Message, delivery: Delivery, link: LocalLink): void {
    this.#backlog.delivered(this.#configuration, message);
    const leaving = this.#leaving(message);
    if (leaving === undefined) {
      this.#acknowledge(delivery, link);
      return;
    }
    this.#underWay += 1;
    this.#laneOf(message.topic)?.add({
      message: leaving,
      done: () => {
        this.#underWay -= 1;
        this.#acknowledge(delivery, link);
        // The session may have another link by now, or none yet that `open` has returned.
        if (this.#isHeld) (this.#session.local?.link ?? link).drain();
      },
    });
  }

  ended(why: string): void {
    this.#context.log.warn('rule-session-ended', { rule: this.name, error: why });
    void this.#session.reopen();
  }

  /** The next message leaves the queue in its place. */
  #acknowledge(delivery: Delivery, link: LocalLink): void {
    link.acknowledge(delivery);
    this.#backlog.left();
  }

  /** The message in the target's form; undefined if it is not sent. */
  #leaving(message: Message): Message | undefined {
    // The message may have been queued for a filter that the rule had before a restart.
    if (!matches(this.#configuration.filter, message.topic)) return undefined;
    this.#counts.matched += 1;
    const leaving = leavingOf(this.#configuration, message);
    if (typeof leaving !== 'string') return leaving;
    this.#counts[leaving] += 1;
    return undefined;
  }

  /** All messages of a topic use the same lane. */
  #laneOf(topic: string): Lane | undefined {
    let hash = 0;
    for (let index = 0; index < topic.length; index += 1) hash = (hash * 31 + topic.charCodeAt(index)) >>> 0;
    return this.#lanes[hash % this.#lanes.length];
  }

  #sent(count: number): void {
    this.#counts.sent += count;
    this.#state.set('connected');
  }

  #failed({ error }: Failure): void {
    this.#counts.failed_attempts += 1;
    if (!this.#session.isStopped) this.#state.set('disconnected', error);
  }

  async #bury(message: Message, error: string, attempts: number): Promise<boolean> {
    const isKept = await this.#dead.add(message, error, attempts);
    const event = isKept ? 'rule-dead-letter' : 'rule-dead-letters-full';
    this.#context.log.warn(event, { rule: this.name, topic: message.topic, messageId: message.id, error });
    if (isKept) this.#counts.dead += 1;
    return isKept;
  }

  #after(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#context.clock.after(delayMs, resolve));
  }
}
