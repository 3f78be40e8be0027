import type { ConnectionPhase } from '../engine/types.ts';
import classes from './state-dot.module.css';

const WORDS: Readonly<Record<ConnectionPhase, string>> = {
  idle: 'Not connected',
  detecting: 'Finding out what the server speaks …',
  connecting: 'Connecting …',
  connected: 'Connected',
  waiting: 'Waiting to try again',
  failed: 'Failed',
};

/** A connection's phase as a dot. Screen readers read it in words. */
export function StateDot({ phase }: { readonly phase: ConnectionPhase }) {
  const words = WORDS[phase];
  return <span className={classes.dot} data-phase={phase} role="img" aria-label={words} title={words} />;
}
