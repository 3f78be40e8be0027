import type { Random } from '@apus/emulator/service';
import type { Line, Verdict } from './line.ts';
import { Lookahead } from './lookahead.ts';
import type { MessageState, QueuedMessage } from './message.ts';

interface Group {
  readonly id: string;
  /** In the order in which they were sent, those in flight among them. */
  readonly messages: QueuedMessage[];
  inFlight: number;
}

/**
 * A FIFO queue: within a group it keeps the order of sending, and delivers no message of a group while another of it is
 * in flight. The seed selects the next group. A receive takes as many messages of one group as allowed before it
 * continues with another.
 */
export class FifoLine implements Line {
  readonly #random: Random;
  readonly #groups = new Map<string, Group>();
  readonly #ready = new Set<Group>();
  readonly #lookahead: Lookahead;

  constructor(random: Random, lookaheadMessagesMax: number) {
    this.#random = random;
    this.#lookahead = new Lookahead(lookaheadMessagesMax, (message) => this.#update(message));
  }

  get hasAvailable(): boolean {
    return this.#ready.size > 0;
  }

  add(message: QueuedMessage): void {
    const id = groupOf(message);
    const group = this.#groups.get(id) ?? { id, messages: [], inFlight: 0 };
    this.#groups.set(id, group);
    group.messages.push(message);
    this.#lookahead.add(message);
    this.#update(message);
  }

  changed(message: QueuedMessage, before: MessageState): void {
    const group = this.#groups.get(groupOf(message));
    if (group === undefined) return;
    if (before === 'inFlight') group.inFlight -= 1;
    if (message.state === 'inFlight') group.inFlight += 1;
    this.#update(message);
  }

  remove(message: QueuedMessage, before: MessageState): void {
    const group = this.#groups.get(groupOf(message));
    if (group === undefined) return;
    if (before === 'inFlight') group.inFlight -= 1;
    group.messages.splice(group.messages.indexOf(message), 1);
    if (group.messages.length === 0) this.#groups.delete(group.id);
    this.#update(message, group);
    this.#lookahead.remove(message);
  }

  choose(messagesMax: number, judge: (message: QueuedMessage) => Verdict): QueuedMessage[] {
    const chosen: QueuedMessage[] = [];
    const groups = [...this.#ready];
    while (chosen.length < messagesMax && groups.length > 0) {
      const [group] = groups.splice(this.#random.integer(groups.length), 1);
      if (group === undefined || !chooseOf(group, messagesMax, judge, chosen)) break;
    }
    return chosen;
  }

  #update(message: QueuedMessage, group = this.#groups.get(groupOf(message))): void {
    if (group === undefined) return;
    const [first] = group.messages;
    const isReady = group.inFlight === 0 && first !== undefined && mayBeReceived(first);
    if (isReady) this.#ready.add(group);
    else this.#ready.delete(group);
  }
}

/** Adds messages of one group. False when the search is over. */
function chooseOf(
  group: Group,
  messagesMax: number,
  judge: (message: QueuedMessage) => Verdict,
  chosen: QueuedMessage[],
): boolean {
  let next = 0;
  while (chosen.length < messagesMax) {
    const message = group.messages[next];
    if (message === undefined || !mayBeReceived(message)) return true;
    const verdict = judge(message);
    if (verdict === 'stop') return false;
    if (verdict === 'removed') continue;
    chosen.push(message);
    next += 1;
  }
  return true;
}

function mayBeReceived(message: QueuedMessage): boolean {
  return message.state === 'available' && message.withinLookahead;
}

function groupOf(message: QueuedMessage): string {
  return message.draft.groupId ?? '';
}
