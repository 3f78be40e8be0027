import { json } from '@codemirror/lang-json';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView, type Extension, Prec } from '@uiw/react-codemirror';
import { useMemo } from 'react';

interface CodeEditorProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly isJson: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const look = EditorView.theme({
  '&': { backgroundColor: 'transparent', fontSize: '12px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'transparent', border: '0', color: 'var(--mantine-color-dimmed)' },
});

/** An editor for payloads. Tab leaves it, as it leaves every other field. */
export function CodeEditor({ label, isJson, value, onChange }: CodeEditorProps) {
  const scheme = useComputedColorScheme('light');
  const extensions = useMemo(
    (): Extension[] => [
      Prec.highest(look),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
      ...(isJson ? [json()] : []),
    ],
    [label, isJson],
  );
  return (
    <CodeMirror
      value={value}
      onChange={onChange}
      extensions={extensions}
      theme={scheme}
      indentWithTab={false}
      basicSetup={{ lineNumbers: false, foldGutter: false, highlightActiveLine: false, searchKeymap: false }}
      height="100%"
      style={{ height: '100%' }}
    />
  );
}
