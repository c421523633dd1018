//! Links of the book, `docs/book/src`, as they are in the built book: mdBook puts included files into their
//! pages, makes a page of what `SUMMARY.md` lists, and copies all other files of the folder. A link that
//! works in the repository only, because it leads out of that folder, is dead there.

use crate::repository;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use sim_tests::page;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
};

/// What is asked of a page.
#[derive(Debug, Default)]
struct Page {
    /// Targets of its links and pictures.
    targets: Vec<String>,
    /// What `#…` behind its address may name.
    anchors: BTreeSet<String>,
}

/// The values of an attribute in tags of HTML.
fn attributes(html: &str, name: &str) -> Vec<String> {
    let opening = format!(" {name}=\"");
    let values = html.split(&opening).skip(1);
    let values = values.filter_map(|part| part.split_once('"'));
    values.map(|(value, _)| value.to_owned()).collect()
}

/// The name that mdBook gives a heading: letters, digits, `-` and `_`, in lower case.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => c.to_lowercase().next(),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

/// Reads a page. `text` is what stands in it, with all that it includes.
fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.targets.push(dest_url.into_string());
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                page.targets.extend(attributes(&html, "href"));
                page.targets.extend(attributes(&html, "src"));
                page.anchors.extend(attributes(&html, "id"));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let free = |name: &String| !page.anchors.contains(name);
                let numbered = (1..).map(|k| format!("{name}-{k}"));
                let mut names = [name.clone()].into_iter().chain(numbered);
                page.anchors.extend(names.find(free));
            }
            _ => {}
        }
    }
    page
}

/// The text of a page with the files that it includes in the place of `{{#include FILE}}`.
fn whole(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut parts = text.split("{{#include ");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (file, rest) = part.split_once("}}").expect("an include has an end");
        let folder = path.parent().expect("a page lies in a folder");
        all.push_str(&whole(&folder.join(file.trim())));
        all.push_str(rest);
    }
    all
}

/// A path without `.` and `..`; none if it leads out of the folder that it begins in.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// Says why a target of the page `from` is dead in the built book, if it is. Paths are relative to `root`,
/// the folder of the book's sources.
fn dead(
    target: &str,
    from: &Path,
    book: &BTreeMap<PathBuf, Page>,
    root: &Path,
) -> Option<&'static str> {
    if target.starts_with("https://") {
        return None;
    }
    if target.contains(':') {
        return Some("is no address that a reader can open");
    }
    let (file, name) = target.split_once('#').unwrap_or((target, ""));
    let place = match file {
        "" => from.to_owned(),
        _ => match normal(&from.parent().unwrap_or(Path::new("")).join(file)) {
            Some(place) => place,
            None => return Some("leads out of the book"),
        },
    };
    match book.get(&place) {
        Some(page) if !name.is_empty() && !page.anchors.contains(name) => {
            Some("names no heading of that page")
        }
        Some(_) => None,
        None if place.extension().is_some_and(|end| end == "md") => Some("is no page of the book"),
        None if !root.join(&place).is_file() => Some("does not exist"),
        None => None,
    }
}

/// The pages that `SUMMARY.md` lists.
fn book(root: &Path) -> BTreeMap<PathBuf, Page> {
    let contents = read(&whole(&root.join("SUMMARY.md")));
    let listed = contents.targets.into_iter().map(PathBuf::from);
    listed
        .map(|path| {
            let page = read(&whole(&root.join(&path)));
            (path, page)
        })
        .collect()
}

#[test]
fn the_book_lists_all_its_pages() {
    let root = repository("docs/book/src");
    let listed = book(&root);
    for path in page::pages(&root) {
        let path = path.strip_prefix(&root).expect("a page of the folder");
        let is_there = listed.contains_key(path) || path.ends_with("SUMMARY.md");
        assert!(is_there, "{path:?} is not in SUMMARY.md");
    }
}

#[test]
fn links_of_the_built_book_lead_somewhere() {
    let root = repository("docs/book/src");
    let book = book(&root);
    let (mut complaints, mut links, mut pictures) = (Vec::new(), 0, 0);
    for (path, page) in &book {
        for target in &page.targets {
            links += 1;
            if let Some(why) = dead(target, path, &book, &root) {
                complaints.push(format!("{}: `{target}` {why}", path.display()));
            }
            if target.ends_with(".svg") {
                pictures += 1;
                let place = path.parent().unwrap_or(Path::new("")).join(target);
                let bytes = fs::metadata(root.join(place)).map_or(0, |file| file.len());
                if bytes > 60_000 {
                    complaints.push(format!("{target}: {bytes} bytes"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(links > 60, "only {links} links");
    assert!(pictures > 5, "only {pictures} pictures");
}

#[test]
fn dead_links_are_found() {
    let root = repository("docs/book/src");
    let text = "# A page\n\n## `f(x)`, twice\n\n## `f(x)`, twice\n\n[a](draws.md) `[b](c.md)`\n\n\
                ```text\n[d](e.md)\n```\n\n<span class=\"x\">[g][h]</span> <a href=\"i.html\">i</a>\n\n\
                [h]: j.md\n";
    let page = read(text);
    assert_eq!(page.targets, ["draws.md", "j.md", "i.html"]);
    let anchors: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
    assert_eq!(anchors, ["a-page", "fx-twice", "fx-twice-1"]);
    let book = BTreeMap::from([
        (PathBuf::from("a.md"), page),
        (PathBuf::from("in/b.md"), Page::default()),
    ]);
    let why = |target: &str| dead(target, Path::new("in/b.md"), &book, &root);
    assert_eq!(why("../a.md#fx-twice-1"), None);
    assert_eq!(why("https://example.org/a.md"), None);
    assert_eq!(why("../pictures/errors.svg"), None);
    assert_eq!(why("../a.md#fx"), Some("names no heading of that page"));
    assert_eq!(why("#a-page"), Some("names no heading of that page"));
    assert_eq!(why("a.md"), Some("is no page of the book"));
    assert_eq!(why("../../../language.md"), Some("leads out of the book"));
    assert_eq!(why("../pictures/none.svg"), Some("does not exist"));
    assert_eq!(
        why("file:///tmp/a"),
        Some("is no address that a reader can open")
    );
}
