/** Unsaved work that would be lost if the user left the page now, each under its own name. */
const unfinished = new Set<string>();

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** While anything is unfinished, the browser asks before it reloads or leaves the page. */
export function setUnfinished(what: string, isUnfinished: boolean): void {
  if (isUnfinished) unfinished.add(what);
  else unfinished.delete(what);
  // A page that always listens could not be kept in the back/forward cache.
  if (unfinished.size > 0) window.addEventListener('beforeunload', ask);
  else window.removeEventListener('beforeunload', ask);
}
