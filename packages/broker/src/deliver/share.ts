import type { MatchedFilter, Subscriber } from '../model/session.ts';
import type { Connections } from '../ports/index.ts';

/**
 * Chooses a member of a shared subscription for each message, in turn. The turn is kept for each group and process:
 * between processes it is fair by chance only, and needs no write.
 */
export class ShareRotation {
  readonly #turns = new WeakMap<object, number>();

  /**
   * A member that is connected and ready; else one that is connected; else, if the message can wait, one that is
   * offline. Undefined: no member can take it.
   */
  choose(group: MatchedFilter, connections: Connections, canWait: boolean): Subscriber | undefined {
    const { subscribers } = group;
    const turn = this.#nextTurn(group);
    let connected: Subscriber | undefined;
    let offline: Subscriber | undefined;
    for (let step = 0; step < subscribers.length; step += 1) {
      const member = subscribers[(turn + step) % subscribers.length];
      if (member === undefined) continue;
      const attachment = member.session.attachment;
      if (attachment === undefined) offline ??= member;
      else if (connections.isReady(attachment.connectionId)) return member;
      else connected ??= member;
    }
    return canWait ? (connected ?? offline) : undefined;
  }

  #nextTurn(group: MatchedFilter): number {
    const turn = this.#turns.get(group.subscribers) ?? Math.floor(Math.random() * group.subscribers.length);
    this.#turns.set(group.subscribers, turn + 1);
    return turn;
  }
}
