import { useState } from 'react';
import { ApiError } from './admin-api.ts';

/** Runs a request of a button or a form. While it runs the button is busy, and a refusal is shown. */
export function useAction() {
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown : new ApiError('refused', String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, run };
}
