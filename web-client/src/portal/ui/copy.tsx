import { useState } from 'react';
import { text } from '../strings.ts';

interface CopyProps {
  readonly what: string;
  readonly content: string;
}

type State = 'idle' | 'copied' | 'failed';

/** A button that copies, and shows whether it has. */
export function Copy({ what, content }: CopyProps) {
  const [state, setState] = useState<State>('idle');
  const copy = async () => setState((await copied(content)) ? 'copied' : 'failed');
  return (
    <span className="copy">
      <span role="status" className={state === 'failed' ? 'error' : 'quiet'}>
        {state === 'copied' && text.copied}
        {state === 'failed' && text.copyFailed}
      </span>
      <button type="button" aria-label={text.copyWhat(what)} onClick={copy} onBlur={() => setState('idle')}>
        {text.copy}
      </button>
    </span>
  );
}

/** Browsers only allow copying for pages with HTTPS and on this machine. */
async function copied(content: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(content);
    return true;
  } catch {
    return false;
  }
}
