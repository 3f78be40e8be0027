import { useCallback, useEffect, useState } from 'react';
import { ApiError } from './admin-api.ts';

export interface Polled<T> {
  /** The last answer; it stays when an attempt fails. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** Asks now. */
  readonly refresh: () => void;
}

/**
 * Polls while it is shown, each time `pollMs` after the answer; only once if that is undefined. `ask` changes with the
 * request.
 */
export function usePoll<T>(ask: (signal: AbortSignal) => Promise<T>, pollMs: number | undefined): Polled<T> {
  const [state, setState] = useState<Pick<Polled<T>, 'value' | 'error'>>({
    value: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks anew
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const value = await ask(abort.signal);
        if (!abort.signal.aborted) setState({ value, error: undefined });
      } catch (error) {
        if (abort.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError('refused', String(error));
        setState(({ value }) => ({ value, error: known }));
        // The broker does not have it, or no longer.
        if (known.status === 501 || known.status === 404) return;
      }
      if (!abort.signal.aborted && pollMs !== undefined) timer = setTimeout(() => void look(), pollMs);
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [ask, pollMs, round]);
  const refresh = useCallback(() => setRound((last) => last + 1), []);
  return { ...state, refresh };
}
