"""Croissant metadata, version 1.0 (https://docs.mlcommons.org/croissant/): files, and the fields of the tables in them.

Records are read from the Parquet files, which are typed.
"""

from collections.abc import Sequence
from typing import Any

from ..contents.content_table import ContentColumn, ContentTable
from . import citation
from .about import About

Json = dict[str, Any]

# Verbatim from the specification.
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
TYPES = {
    "text": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "time": "sc:DateTime",
    "json": "sc:Text",
    "texts": "sc:Text",
}


def croissant_document(about: About, manifest: Json, tables: Sequence[ContentTable]) -> Json:
    """Return the document."""
    full = {table["name"] for table in manifest["tables"] if table["rows"]}
    described = [table for table in tables if table.name in full]
    document: Json = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": about.name,
        "alternateName": about.title,
        "description": about.description.strip() or about.title,
        "version": f"{about.version}.0.0",
        "datePublished": about.released.isoformat(),
        "license": citation.licence_of(about.licence).address or about.licence,
        "inLanguage": about.language,
        "creator": [_creator(creator) for creator in about.creators]
        or [{"@type": "sc:Organization", "name": about.makers}],
        "citeAs": citation.bibtex(about),
        "isLiveDataset": False,
        **_responsible(about),
        "distribution": [_file(file) for file in manifest["files"]],
        "recordSet": [_records(table, full) for table in described],
    }
    if address := about.address or (f"https://doi.org/{about.doi}" if about.doi else ""):
        document["url"] = address
    return document


def _creator(creator: Any) -> Json:
    person: Json = {"@type": "sc:Person", "name": creator.name}
    if creator.orcid:
        person["url"] = f"https://orcid.org/{creator.orcid.rsplit('/', 1)[-1]}"
    if creator.affiliation:
        person["affiliation"] = {"@type": "sc:Organization", "name": creator.affiliation}
    return person


def _responsible(about: About) -> Json:
    """Return the properties of the responsible AI extension that are known here; the datasheet says more."""
    people = "The crowd is simulated." if about.is_simulated else "People wrote and judged for pay or as volunteers."
    return {
        "rai:dataCollection": f"{people} See DATASHEET.md.",
        "rai:dataCollectionType": ["Crowdsourcing", "Experiments"],
        "rai:personalSensitiveInformation": (
            "Participants have pseudonyms. The data contain only what they agreed to release. Free text was "
            "searched for personal data."
        ),
    }


def _file(file: Json) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": file["path"],
        "name": file["path"],
        "description": file["meaning"],
        "contentUrl": file["path"],
        "contentSize": f"{file['bytes']} B",
        "sha256": file["sha256"],
        # Readers only know media types without parameters.
        "encodingFormat": _FORMATS.get(file["media_type"], file["media_type"].partition(";")[0]),
    }


_FORMATS = {
    "application/vnd.apache.parquet": "application/x-parquet",
    "application/jsonlines+gzip": "application/gzip",
}


def _records(table: ContentTable, full: set[str]) -> Json:
    record_set: Json = {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "field": [_field(table, column, full) for column in table.columns],
    }
    if table.key:
        record_set["key"] = [{"@id": f"{table.name}/{name}"} for name in table.key]
    return record_set


def _field(table: ContentTable, column: ContentColumn, full: set[str]) -> Json:
    field: Json = {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": column.meaning,
        "dataType": TYPES[column.type],
        "source": {"fileObject": {"@id": f"parquet/{table.name}.parquet"}, "extract": {"column": column.name}},
    }
    if column.type == "texts":
        field["repeated"] = True
    to = column.refers_to.partition(".")
    if to[0] in full:
        field["references"] = {"field": {"@id": f"{to[0]}/{to[2]}"}}
    return field
