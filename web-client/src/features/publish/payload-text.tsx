import { type ClipboardEvent, lazy, Suspense } from 'react';
import classes from './publish-panel.module.css';

/** A payload of this many characters is edited with folding, colours and a search: a shorter one in a plain field. */
const CODE_CHARACTERS_MIN = 2_000;

/** The editor is larger than the rest of the view: the page fetches it when it is needed. */
const CodeEditor = lazy(async () => ({ default: (await import('../../ui/code-editor.tsx')).CodeEditor }));

interface PayloadTextProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly isJson: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Whether the code editor is open. */
  readonly isCode: boolean;
  readonly openCode: () => void;
}

/** The payload as text: a plain field, which becomes the code editor when its user enters or pastes a large payload. */
export function PayloadText({ isCode, openCode, ...props }: PayloadTextProps) {
  const { label, value, onChange } = props;
  const pasted = (event: ClipboardEvent<HTMLTextAreaElement>): void => {
    const text = event.clipboardData.getData('text/plain').replaceAll('\r\n', '\n');
    if (text.length < CODE_CHARACTERS_MIN) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = event.currentTarget;
    onChange(value.slice(0, selectionStart) + text + value.slice(selectionEnd));
    openCode();
  };
  const field = (
    <textarea
      className={classes.text}
      aria-label={label}
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onPaste={pasted}
      onFocus={() => value.length >= CODE_CHARACTERS_MIN && openCode()}
    />
  );
  if (!isCode) return field;
  return (
    <Suspense fallback={field}>
      <CodeEditor {...props} autoFocus />
    </Suspense>
  );
}
