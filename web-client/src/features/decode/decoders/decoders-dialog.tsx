import { Alert, Modal, Stack, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { IconButton } from '../../../ui/icon-button.tsx';
import { AddDecoder } from './add-decoder.tsx';
import classes from './decoders-dialog.module.css';
import { useDecoders } from './registry.ts';
import { removeRule } from './rule-archive.ts';
import type { DecoderRule } from './rules.ts';

interface DecodersDialogProps {
  /** The topic of the shown payload: a new decoder is probably for it. */
  readonly topic: string;
  readonly close: () => void;
}

/** The decoders of the user, and a form for another one. */
export function DecodersDialog({ topic, close }: DecodersDialogProps) {
  const rules = useDecoders((state) => state.rules);
  return (
    <Modal opened size="lg" onClose={close} title="Decoders by topic filter">
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          Payloads of these topics are decoded as the Protobuf messages that you name here: in Messages and
          Topics, for JSONPath and for charts. The first filter that matches counts. They stay in this
          browser.
        </Text>
        {rules.length === 0 ? (
          <Text size="sm">There is no decoder yet.</Text>
        ) : (
          <ul className={classes.rules}>
            {rules.map((rule) => (
              <Rule key={rule.id} rule={rule} />
            ))}
          </ul>
        )}
        <AddDecoder topic={topic} isFirst={rules.length === 0} />
      </Stack>
    </Modal>
  );
}

function Rule({ rule }: { readonly rule: DecoderRule }) {
  const loaded = useDecoders((state) => state.loaded.get(rule.id));
  const { filter, messageType, schemas } = rule;
  const details = ['Protobuf', messageType, schemas.map(({ name }) => name).join(', ')];
  return (
    <li>
      <div className={classes.rule}>
        <code>{filter}</code>
        <Text size="xs" c="dimmed">
          {details.join(' · ')}
        </Text>
        <IconButton label={`Remove the decoder of ${filter}`} onClick={() => void removeRule(rule.id)}>
          <IconTrash size={16} stroke={1.5} />
        </IconButton>
      </div>
      {loaded?.state === 'failed' && (
        <Alert color="red" variant="light" p="xs">
          {`The decoder of ${filter} cannot be used: ${loaded.problem}`}
        </Alert>
      )}
    </li>
  );
}
