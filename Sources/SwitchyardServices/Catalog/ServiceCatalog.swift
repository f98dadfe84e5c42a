public import Foundation

/// The services of an app, read from a folder with one JSON file per service.
///
/// Reading is strict: what the format does not know is an error that names the file, the key and what was expected
/// (``CatalogError``). ``ServiceFormat/keys`` lists every key.
public struct ServiceCatalog: Sendable {
    /// The services, sorted by name.
    public let services: [Service]

    /// Creates a catalogue of services that exist already.
    ///
    /// - Parameter services: The services; of two with one name the first counts.
    public init(_ services: [Service]) {
        var names: Set<String> = []
        self.services = services.filter { names.insert($0.name).inserted }.sorted { $0.name < $1.name }
    }

    /// Reads every `*.json` file of a folder, or a single file.
    ///
    /// - Parameter url: The folder or the file.
    /// - Throws: The first mistake, in the order of the file names.
    public init(contentsOf url: URL) throws(CatalogError) {
        var services: [Service] = []
        for file in try ServiceCatalog.files(at: url) {
            services.append(try ServiceCatalog.service(contentsOf: file))
        }
        self.init(services)
    }

    /// Returns the service of this name.
    ///
    /// - Parameter name: The name of the service.
    /// - Returns: The service.
    /// - Throws: A ``CatalogError`` that lists the names that exist.
    public func service(named name: String) throws(CatalogError) -> Service {
        if let service = services.first(where: { $0.name == name }) { return service }
        let names = services.map(\.name).joined(separator: ", ")
        throw CatalogError(.unknownService, expected: names.isEmpty ? "a service" : "one of \(names)", found: name)
    }

    /// Reads one service file.
    ///
    /// - Parameter url: The file; its name without extension is the service's name.
    /// - Returns: The service.
    /// - Throws: What is wrong with the file.
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
    ///   - name: The service's name, which the contents have to repeat.
    ///   - file: What errors call the file; by default the name with `.json`.
    /// - Returns: The service.
    /// - Throws: What is wrong with the contents.
    public static func service(
        from data: Data,
        named name: String,
        file: String? = nil
    ) throws(CatalogError) -> Service {
        let decoder = ServiceDecoder(file: file ?? "\(name).json")
        return try decoder.service(from: Array(data), named: name)
    }

    /// Returns the service files of a folder, sorted by name; of a file, the file.
    ///
    /// - Parameter url: The folder or the file.
    /// - Returns: The files, at least one.
    /// - Throws: ``CatalogError/Kind/unreadable`` or ``CatalogError/Kind/emptyCatalog``.
    public static func files(at url: URL) throws(CatalogError) -> [URL] {
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

    /// Why a service file could not be read; of one that is not there the whole path, which says where it was looked for.
    private static func unreadable(_ url: URL, _ error: any Error) -> CatalogError {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            return CatalogError(.unreadable, file: url.path, expected: "a service file", found: "nothing")
        }
        let found = isDirectory.boolValue ? "a folder" : isFile(url) ? reason(of: error) : "a device or a pipe"
        return CatalogError(.unreadable, file: url.lastPathComponent, expected: "a readable file", found: found)
    }

    /// Whether bytes are kept there; of what is none, the system says that its reader has no permission.
    private static func isFile(_ url: URL) -> Bool {
        let values = try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey])
        return values?.isRegularFile ?? true
    }

    private static func reason(of error: any Error) -> String {
        error.localizedDescription
    }
}
