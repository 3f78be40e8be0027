import { json } from '@codemirror/lang-json';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, {
  type BasicSetupOptions,
  Compartment,
  EditorState,
  EditorView,
  type Extension,
  Prec,
} from '@uiw/react-codemirror';
import { useCallback, useMemo, useRef } from 'react';

interface CodeEditorProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly isJson: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly autoFocus?: boolean;
}

const look = EditorView.theme({
  '&': { backgroundColor: 'transparent', fontSize: '12px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'transparent', border: '0', color: 'var(--mantine-color-dimmed)' },
});

/** A stable object: with another one the editor begins anew. */
const SETUP: BasicSetupOptions = {
  lineNumbers: false,
  foldGutter: false,
  highlightActiveLine: false,
  searchKeymap: false,
};

/** Longer texts are neither coloured nor matched: they would be parsed again at every change. */
const COLOURED_CHARACTERS_MAX = 262_144;

const language = new Compartment();

/** The language changes in the same step as the text, so that a long text is not parsed first. */
const byLength = EditorState.transactionExtender.of(({ docChanged, newDoc, startState }) => {
  const wasColoured = startState.doc.length <= COLOURED_CHARACTERS_MAX;
  const isColoured = newDoc.length <= COLOURED_CHARACTERS_MAX;
  if (!docChanged || wasColoured === isColoured) return null;
  return { effects: language.reconfigure(isColoured ? json() : []) };
});

/** An editor for payloads. Tab leaves it, as it leaves every other field. */
export function CodeEditor({ label, isJson, value, onChange, autoFocus = false }: CodeEditorProps) {
  const scheme = useComputedColorScheme('light');
  const length = useRef(value.length);
  length.current = value.length;
  // A stable function, for the same reason as the setup.
  const latest = useRef(onChange);
  latest.current = onChange;
  const changed = useCallback((text: string) => latest.current(text), []);
  const extensions = useMemo(
    (): Extension[] => [
      Prec.highest(look),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
      ...(isJson ? [language.of(length.current <= COLOURED_CHARACTERS_MAX ? json() : []), byLength] : []),
    ],
    [label, isJson],
  );
  return (
    <CodeMirror
      value={value}
      onChange={changed}
      autoFocus={autoFocus}
      extensions={extensions}
      theme={scheme}
      indentWithTab={false}
      basicSetup={SETUP}
      height="100%"
      style={{ height: '100%' }}
    />
  );
}
