import type { Draft } from '../../state/draft.ts';
import { fill, formatBytes, formatDuration } from '../../ui/format.ts';
import { troubleSentence, troubleWords } from '../../ui/trouble.ts';
import { jsonProblem } from './draft-request.ts';
import classes from './publish-panel.module.css';
import { publishWords } from './strings.ts';
import type { Sending } from './use-send.ts';

/** MQTT 5's PUBACK says that no client is subscribed. */
const NO_MATCHING_SUBSCRIBERS = 0x10;

interface SendingStatusProps {
  readonly sending: Sending;
  readonly draft: Draft;
  readonly protocolVersion: number;
}

/** The outcome of the last publish, or a warning about the next one. */
export function SendingStatus({ sending, draft, protocolVersion }: SendingStatusProps) {
  const { kind, text } = said(sending, draft, protocolVersion);
  return (
    <div className={classes.status} data-kind={kind} role="status">
      {text}
    </div>
  );
}

function said(
  sending: Sending,
  draft: Draft,
  protocolVersion: number,
): { readonly kind: string; readonly text: string } {
  if (sending.type === 'sending') return { kind: 'sending', text: 'Publishing …' };
  if (sending.type === 'problem') {
    const { key, bytesMax = 0 } = sending.problem;
    return { kind: 'problem', text: fill(publishWords.problems[key], { max: formatBytes(bytesMax) }) };
  }
  const problem = draft.format === 'json' ? jsonProblem(draft.payload) : undefined;
  if (problem !== undefined)
    return { kind: 'hint', text: `This is no JSON: ${problem}. It is sent as it stands.` };
  if (sending.type === 'none') return { kind: 'none', text: '' };
  const { outcome, qos } = sending;
  if (outcome.trouble !== undefined) {
    const title = troubleSentence(troubleWords(outcome.trouble));
    return { kind: 'failed', text: `Not published: ${title}` };
  }
  const duration = formatDuration(outcome.durationMs);
  if (qos === 0) return { kind: 'done', text: 'Sent (QoS 0 is not acknowledged)' };
  if (outcome.reasonCode === NO_MATCHING_SUBSCRIBERS) {
    return { kind: 'done', text: `Acknowledged in ${duration}: no matching subscribers` };
  }
  const text = qos === 1 ? `Acknowledged in ${duration}` : `Complete in ${duration}`;
  return {
    kind: 'done',
    text:
      protocolVersion === 5
        ? text
        : `${text}. That does not mean accepted: MQTT 3.1.1 cannot say that a PUBLISH was refused.`,
  };
}
