import { useCallback, useEffect, useState } from 'react';
import { type Fetched, fetchDocument } from './document/fetch-document.ts';
import { Refused } from './refused.tsx';
import { Shell } from './shell.tsx';
import { text } from './strings.ts';
import type { Credentials } from './try/try-client.ts';

const NO_CREDENTIALS: Credentials = { username: '', password: '' };

/** The page: its document, or why there is none. */
export function App({ documentUrl }: { readonly documentUrl: string }) {
  const [credentials, setCredentials] = useState(NO_CREDENTIALS);
  const [fetched, setFetched] = useState<Fetched | undefined>();
  const ask = useCallback(
    async (token: string) => {
      const answer = await fetchDocument(documentUrl, token);
      setFetched(answer);
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
        onToken={(password) => {
          setCredentials({ username: '', password });
          return ask(password);
        }}
      />
    );
  if (fetched.is === 'failed') return <Failed fetched={fetched} onAgain={() => ask(credentials.password)} />;
  const { document } = fetched;
  return <Shell {...{ document, documentUrl, credentials }} onCredentials={setCredentials} />;
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
