import type { QueueRequest } from './actions/action.ts';
import type { QueuedMessage } from './message.ts';
import type { Receive } from './queue.ts';

/** Receives now, or, with a wait, as soon as there are messages. Empty when the wait is over or the caller is gone. */
export async function waitForMessages(
  { pause, queue, signals }: QueueRequest,
  receive: Receive,
  waitSeconds: number,
): Promise<QueuedMessage[]> {
  const { clock, dice, faults } = queue.parts;
  const isShort = waitSeconds === 0;
  const subject = { queueName: queue.name, messagesMax: receive.messagesMax };
  // A short poll asks only some of the servers.
  if (isShort && queue.hasAvailable && dice.strikes('receiveNothing', faults.receiveNothing, subject))
    return [];
  const messages = queue.receive(receive);
  if (isShort || messages.length > 0) return messages;
  const resume = pause();
  return await new Promise<QueuedMessage[]>((resolve) => {
    let over = false;
    const finish = (found: QueuedMessage[]): void => {
      over = true;
      resume();
      ignore();
      cancelTimer();
      for (const signal of signals) signal.removeEventListener('abort', giveUp);
      resolve(found);
    };
    const giveUp = (): void => finish([]);
    const ignore = queue.onAvailable(() => {
      if (over) return;
      const found = queue.receive(receive);
      if (found.length > 0) finish(found);
    });
    const cancelTimer = clock.setTimer(waitSeconds * 1000, giveUp);
    for (const signal of signals) signal.addEventListener('abort', giveUp);
  });
}
