import { IconBraces } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { IconButton } from '../../../ui/icon-button.tsx';

const DecodersDialog = lazy(async () => ({
  default: (await import('./decoders-dialog.tsx')).DecodersDialog,
}));

/** Opens the decoders; their code is loaded then. */
export function DecodersButton({ topic }: { readonly topic: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton label="Decoders by topic filter" onClick={() => setOpen(true)}>
        <IconBraces size={16} stroke={1.5} />
      </IconButton>
      {isOpen && (
        <Suspense>
          <DecodersDialog topic={topic} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
