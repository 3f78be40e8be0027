import type { LoggedMessage, MessageLog } from '../../engine/types.ts';

/** The previous message of the same topic and direction, if the log still has it. */
export function previousMessage(log: MessageLog, message: LoggedMessage): LoggedMessage | undefined {
  for (let sequence = message.sequence - 1; sequence >= log.firstSequence; sequence -= 1) {
    const earlier = log.at(sequence);
    if (earlier?.topic === message.topic && earlier.direction === message.direction) return earlier;
  }
  return undefined;
}
