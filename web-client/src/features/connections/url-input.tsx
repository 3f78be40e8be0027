import { Anchor, TextInput, type TextInputProps } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { fill } from '../../ui/format.ts';
import { isUrlRight } from './connection-form.ts';
import { connectionsWords } from './strings.ts';
import { urlHelp } from './url-help.ts';

interface UrlInputProps extends Omit<TextInputProps, 'value' | 'onChange' | 'error'> {
  readonly value: string;
  readonly onChange: (url: string) => void;
}

/** A field for the URL of a broker. It explains an error, and offers the address that was probably meant. */
export function UrlInput({ value, onChange, ...props }: UrlInputProps) {
  const input = useRef<HTMLInputElement>(null);
  const take = (url: string): void => {
    onChange(url);
    input.current?.focus();
  };
  return (
    <TextInput
      ref={input}
      type="url"
      placeholder="wss://broker.example/mqtt"
      spellCheck={false}
      value={value}
      error={isUnfinished(value) || isUrlRight(value.trim()) ? undefined : <Wrong url={value} take={take} />}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  );
}

function Wrong({ url, take }: { readonly url: string; readonly take: (url: string) => void }): ReactNode {
  const help = urlHelp(url, location.protocol === 'https:');
  if (help === undefined) return 'A WebSocket URL begins with ws:// or wss://';
  return (
    <>
      {fill(connectionsWords.editor.urlHelp[help.reason], { scheme: help.scheme })}{' '}
      <Anchor component="button" type="button" size="xs" underline="always" onClick={() => take(help.url)}>
        {`Use ${help.url}`}
      </Anchor>
    </>
  );
}

/** While a URL is being typed, no error is shown. */
function isUnfinished(url: string): boolean {
  return 'wss://'.startsWith(url) || 'ws://'.startsWith(url);
}
