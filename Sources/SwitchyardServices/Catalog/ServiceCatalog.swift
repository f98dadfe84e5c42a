public import Foundation

/// The services of an app, read from a folder with one JSON file per service.
///
/// Parsing is strict: an unknown key or an invalid value is a ``CatalogError`` that names the file, the key and the
/// expected value.
public struct ServiceCatalog: Sendable {
    /// The services, sorted by name.
    public let services: [Service]

    /// Creates a catalog of existing services.
    ///
    /// - Parameter services: The services. If two services have the same name, the first one wins.
    public init(_ services: [Service]) {
        var names: Set<String> = []
        self.services = services.filter { names.insert($0.name).inserted }.sorted { $0.name < $1.name }
    }

    /// Reads every `*.json` file of a folder, or a single file.
    ///
    /// - Parameter url: The folder or the file.
    /// - Throws: The first error, in the order of the file names.
    public init(contentsOf url: URL) throws(CatalogError) {
        var services: [Service] = []
        for file in try ServiceCatalog.files(at: url) {
            services.append(try ServiceCatalog.service(contentsOf: file))
        }
        self.init(services)
    }

    /// Returns the service with the given name.
    ///
    /// - Parameter name: The name of the service.
    /// - Returns: The service.
    /// - Throws: A ``CatalogError`` that lists the existing names.
    public func service(named name: String) throws(CatalogError) -> Service {
        if let service = services.first(where: { $0.name == name }) { return service }
        let names = services.map(\.name).joined(separator: ", ")
        throw CatalogError(.unknownService, expected: names.isEmpty ? "a service" : "one of \(names)", found: name)
    }

    /// Reads one service file.
    ///
    /// - Parameter url: The file. Its name without extension is the service's name.
    /// - Returns: The service.
    /// - Throws: A ``CatalogError`` if the file is unreadable or invalid.
    public static func service(contentsOf url: URL) throws(CatalogError) -> Service {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw unreadable(url, error)
        }
        return try service(
            from: data,
            named: url.deletingPathExtension().lastPathComponent,
            file: url.lastPathComponent
        )
    }

    /// Reads one service from the contents of its file.
    ///
    /// - Parameters:
    ///   - data: The contents, JSON in UTF-8.
    ///   - name: The service's name, which must be equal to the name in the contents.
    ///   - file: The file name in errors. The default is the service's name with `.json`.
    /// - Returns: The service.
    /// - Throws: A ``CatalogError`` if the contents are invalid.
    public static func service(
        from data: Data,
        named name: String,
        file: String? = nil
    ) throws(CatalogError) -> Service {
        let decoder = ServiceDecoder(file: file ?? "\(name).json")
        return try decoder.service(from: Array(data), named: name)
    }

    /// Returns the servers in a JSON array of the format of the service file's `servers`.
    ///
    /// - Parameters:
    ///   - values: The elements of the array.
    ///   - file: The name of the document in errors.
    /// - Returns: The servers, at least one.
    /// - Throws: A ``CatalogError`` if the array is empty or an element is invalid. This method does not check whether
    ///   the servers together make a valid service; ``Service`` does.
    package static func servers(from values: [JSONValue], file: String) throws(CatalogError) -> [Server] {
        try ServiceDecoder(file: file).servers(values)
    }

    /// Returns the service files in a folder, sorted by name, or the file itself if `url` is a file.
    ///
    /// - Parameter url: The folder or the file.
    /// - Returns: The files, at least one.
    /// - Throws: ``CatalogError/Kind/unreadable`` or ``CatalogError/Kind/emptyCatalog``.
    package static func files(at url: URL) throws(CatalogError) -> [URL] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw CatalogError(.unreadable, file: url.path, expected: "a file or a folder", found: "nothing")
        }
        guard isDirectory.boolValue else { return [url] }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch {
            throw CatalogError(.unreadable, file: url.path, expected: "a readable folder", found: reason(of: error))
        }
        let files = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard !files.isEmpty else {
            throw CatalogError(.emptyCatalog, file: url.path, expected: "at least one service file (*.json)")
        }
        return files.map { url.appendingPathComponent($0) }
    }

    /// Returns the error for an unreadable service file, with the full path if the file does not exist.
    private static func unreadable(_ url: URL, _ error: any Error) -> CatalogError {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            return CatalogError(.unreadable, file: url.path, expected: "a service file", found: "nothing")
        }
        let found = isDirectory.boolValue ? "a folder" : isFile(url) ? reason(of: error) : "a device or a pipe"
        return CatalogError(.unreadable, file: url.lastPathComponent, expected: "a readable file", found: found)
    }

    /// Whether the URL is a regular file.
    ///
    /// For a device or a pipe, the system's error would misleadingly report missing permissions.
    private static func isFile(_ url: URL) -> Bool {
        let values = try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey])
        return values?.isRegularFile ?? true
    }

    private static func reason(of error: any Error) -> String {
        error.localizedDescription
    }
}
