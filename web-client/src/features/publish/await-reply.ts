import type { LoggedMessage, MessageLog } from '../../engine/types.ts';

/**
 * Waits for the answer to a request: the first message on the response topic with the request's correlation data.
 *
 * @returns undefined if none came in time
 */
export function awaitReply(
  log: MessageLog,
  responseTopic: string,
  correlation: Uint8Array,
  timeoutMs: number,
): Promise<LoggedMessage | undefined> {
  return new Promise((resolve) => {
    const finish = (reply: LoggedMessage | undefined): void => {
      clearTimeout(timer);
      stop();
      resolve(reply);
    };
    const timer = setTimeout(() => finish(undefined), timeoutMs);
    const stop = log.onAppend((messages) => {
      const reply = messages.find(
        ({ direction, topic, properties }) =>
          direction === 'received' &&
          topic === responseTopic &&
          areEqual(properties.correlationData, correlation),
      );
      if (reply !== undefined) finish(reply);
    });
  });
}

function areEqual(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, index) => byte === b[index]);
}
