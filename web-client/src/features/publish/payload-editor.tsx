import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Draft, PayloadFormat } from '../../state/draft.ts';
import { formatBytes } from '../../ui/format.ts';
import { Loading } from '../../ui/loading.tsx';
import { jsonProblem, payloadBytes } from './draft-request.ts';
import classes from './publish-panel.module.css';
import { setDraft } from './publish-store.ts';

const FORMATS = ['json', 'text', 'hex', 'base64'] as const;

/** The editor weighs more than the rest of the view; it comes when it is there. */
const CodeEditor = lazy(async () => ({ default: (await import('../../ui/code-editor.tsx')).CodeEditor }));

interface PayloadEditorProps {
  readonly id: string;
  readonly draft: Draft;
}

export function PayloadEditor({ id, draft }: PayloadEditorProps) {
  const { t } = useTranslation();
  const { format, payload } = draft;
  const size = payloadBytes(payload, format)?.length;
  const canFormat = format === 'json' && payload.trim() !== '' && jsonProblem(payload) === undefined;
  const choose = (value: string): void => setDraft(id, { format: formatOf(value) });
  return (
    <div className={classes.editor}>
      <Group gap={6} className={classes.editorHead} wrap="nowrap">
        <SegmentedControl
          size="xs"
          aria-label={t('publish.format')}
          data={FORMATS.map((value) => ({ value, label: t(`publish.formats.${value}`) }))}
          value={format}
          onChange={choose}
        />
        {format === 'json' && (
          <Button
            variant="subtle"
            size="compact-xs"
            disabled={!canFormat}
            onClick={() => setDraft(id, { payload: JSON.stringify(JSON.parse(payload), undefined, 2) })}
          >
            {t('publish.pretty')}
          </Button>
        )}
        <Text size="xs" c="dimmed" ml="auto">
          {size === undefined ? '' : formatBytes(size)}
        </Text>
      </Group>
      <div className={classes.code}>
        <Suspense fallback={<Loading />}>
          <CodeEditor
            label={t('publish.payload')}
            isJson={format === 'json'}
            value={payload}
            onChange={(text) => setDraft(id, { payload: text })}
          />
        </Suspense>
      </div>
    </div>
  );
}

function formatOf(value: string): PayloadFormat {
  return FORMATS.find((format) => format === value) ?? 'text';
}
