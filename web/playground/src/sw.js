// Keeps the page for use without a network: all files of a version at once, or none.

const CACHE = "sim-playground-__VERSION__";
const FILES = __FILES__;

self.addEventListener("install", (event) => {
    const fresh = FILES.map((file) => new Request(file, { cache: "reload" }));
    event.waitUntil(
        caches
            .open(CACHE)
            .then((cache) => cache.addAll(fresh))
            .then(() => self.skipWaiting()),
    );
});

self.addEventListener("activate", (event) => {
    const old = (name) => name.startsWith("sim-playground-") && name !== CACHE;
    const clean = caches
        .keys()
        .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))));
    event.waitUntil(clean.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
    const { request } = event;
    if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
    const kept = caches.open(CACHE).then((cache) => cache.match(request, { ignoreSearch: true }));
    event.respondWith(kept.then((found) => found ?? fetch(request)));
});
