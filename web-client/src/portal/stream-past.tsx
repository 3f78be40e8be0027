import type { PortalStream } from './document/portal-document.ts';
import { text } from './strings.ts';

interface StreamPastProps {
  readonly stream: PortalStream;
  readonly rewind: string;
  onRewind(rewind: string): void;
}

/** The stream that stores the messages of the topic, and where a program begins in it. */
export function StreamPast({ stream, rewind, onRewind }: StreamPastProps) {
  const { name, topicFilter, keepSeconds, messagesMax, isSnapshot } = stream;
  return (
    <>
      <p>
        {text.streamSays(name, topicFilter)}
        {keepSeconds !== undefined && text.keeps(spanOf(keepSeconds))}
        {messagesMax !== undefined && text.keepsMessages(messagesMax)}
        {'.'}
        {isSnapshot && text.snapshot}
      </p>
      <label className="field">
        {text.rewind}
        <select value={rewind} onChange={({ target }) => onRewind(target.value)}>
          {Object.entries(text.rewinds)
            .sort(([one], [other]) => Number(one !== '') - Number(other !== ''))
            .map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
        </select>
      </label>
    </>
  );
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** In the largest unit that gives a whole number. */
function spanOf(seconds: number): string {
  const [unit, length] = UNITS.find(([, each]) => seconds % each === 0) ?? ['second', 1];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / length);
}
