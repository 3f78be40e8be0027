import type { ConnectionPhase } from '../engine/types.ts';
import { t } from '../i18n/index.ts';
import classes from './state-dot.module.css';

/** A connection's phase as a dot. Screen readers read it in words. */
export function StateDot({ phase }: { readonly phase: ConnectionPhase }) {
  const words = t(`connections.phase.${phase}`);
  return <span className={classes.dot} data-phase={phase} role="img" aria-label={words} title={words} />;
}
