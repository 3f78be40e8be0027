import { type FormEvent, useState } from 'react';
import { text } from './strings.ts';
import { Brand } from './ui/brand.tsx';
import { Prose } from './ui/prose.tsx';

interface RefusedProps {
  /** The server has refused a token. */
  readonly hasToken: boolean;
  /** The server's message. */
  readonly reason: string | undefined;
  readonly tokenHelp: string | undefined;
  onToken(token: string): Promise<void>;
}

/** Asks for a token. It stays in memory. */
export function Refused({ hasToken, reason, tokenHelp, onToken }: RefusedProps) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const show = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    await onToken(token.trim());
    setBusy(false);
  };
  return (
    <main className="lone">
      <Brand />
      <h1>{text.refused.title}</h1>
      <p>{text.refused.ask}</p>
      {reason !== undefined && <p className="quiet">{reason}</p>}
      <form onSubmit={show} aria-label={text.refused.title}>
        <label className="field">
          {text.token}
          <input
            type="password"
            autoComplete="off"
            required
            aria-invalid={hasToken}
            aria-describedby={hasToken ? 'wrong' : undefined}
            value={token}
            onChange={({ target }) => setToken(target.value)}
          />
        </label>
        {hasToken && (
          <p className="error" id="wrong" role="alert">
            {text.refused.wrong}
          </p>
        )}
        <button type="submit" className="first" disabled={isBusy}>
          {text.refused.show}
        </button>
      </form>
      <h2>{text.getToken}</h2>
      <Prose>{tokenHelp ?? text.tokenIsPassword}</Prose>
    </main>
  );
}
