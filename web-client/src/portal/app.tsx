import { useCallback, useEffect, useState } from 'react';
import { type Fetched, fetchDocument } from './document/fetch-document.ts';
import { Refused } from './refused.tsx';
import { Shell } from './shell.tsx';
import { text } from './strings.ts';

/** The page: its document, or why there is none. */
export function App({ documentUrl }: { readonly documentUrl: string }) {
  const [token, setToken] = useState('');
  const [fetched, setFetched] = useState<Fetched | undefined>();
  const ask = useCallback(
    async (given: string) => {
      setToken(given);
      setFetched(await fetchDocument(documentUrl, given));
    },
    [documentUrl],
  );
  useEffect(() => void ask(''), [ask]);

  if (fetched === undefined)
    return (
      <main className="lone">
        <p role="status">{text.loading}</p>
      </main>
    );
  if (fetched.is === 'refused')
    return (
      <Refused
        hasToken={fetched.hasToken}
        reason={fetched.reason}
        tokenHelp={fetched.tokenHelp}
        onToken={ask}
      />
    );
  if (fetched.is === 'failed') return <Failed fetched={fetched} onAgain={() => ask(token)} />;
  return <Shell document={fetched.document} documentUrl={token === '' ? documentUrl : undefined} />;
}

interface FailedProps {
  readonly fetched: Extract<Fetched, { readonly is: 'failed' }>;
  onAgain(): Promise<void>;
}

function Failed({ fetched: { why, status = 0 }, onAgain }: FailedProps) {
  return (
    <main className="lone">
      <h1>{text.topics}</h1>
      <p role="alert">{why === 'status' ? text.failed.status(status) : text.failed[why]}</p>
      <button type="button" onClick={() => void onAgain()}>
        {text.failed.again}
      </button>
    </main>
  );
}
